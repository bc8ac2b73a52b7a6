// The pages, in the order of the menu.
import type { ComponentType, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

import { Ask } from "./ask";
import { Browse } from "./browse";
import { Decide } from "./decide";
import { MemoryPage } from "./memory";
import { Start } from "./start";

export interface PageSpec {
  path: string;
  title: string;
  view: ComponentType;
  nav: boolean;
  /** Whether it shows memories of the chosen scope. */
  scoped: boolean;
  shortcut?: string;
}

/** A page whose code is loaded when it is first opened. */
function later(load: () => Promise<ComponentType>): ComponentType {
  let ready: ComponentType | undefined;
  return function Later(): JSX.Element {
    const [view, setView] = useState<{ is: ComponentType } | undefined>(ready && { is: ready });
    const [failed, setFailed] = useState(false);
    useEffect(() => {
      if (view) return;
      load().then(
        (loaded) => {
          ready = loaded;
          setView({ is: loaded });
        },
        () => setFailed(true),
      );
    }, []);
    if (failed) return <p class="empty">This part could not be loaded. Reload the page: the server may have a new version.</p>;
    return view ? <view.is /> : <p class="quiet loading">Loading …</p>;
  };
}

export const PAGES: PageSpec[] = [
  { path: "", title: "First steps", view: Start, nav: false, scoped: false, shortcut: "h" },
  { path: "ask", title: "Ask", view: Ask, nav: true, scoped: true, shortcut: "a" },
  { path: "browse", title: "Browse", view: Browse, nav: true, scoped: true, shortcut: "b" },
  { path: "timeline", title: "Timeline", view: later(async () => (await import("./timeline")).Timeline), nav: true, scoped: true, shortcut: "t" },
  { path: "sessions", title: "Sessions", view: later(async () => (await import("./sessions")).Sessions), nav: true, scoped: true, shortcut: "s" },
  { path: "entities", title: "Entities", view: later(async () => (await import("./entities")).Entities), nav: true, scoped: true, shortcut: "e" },
  { path: "graph", title: "Graph", view: later(async () => (await import("./graph")).Graph), nav: true, scoped: true, shortcut: "n" },
  { path: "decide", title: "Decide", view: Decide, nav: true, scoped: true, shortcut: "d" },
  { path: "run", title: "Run", view: later(async () => (await import("./run")).Run), nav: true, scoped: false, shortcut: "r" },
  { path: "memory", title: "Memory", view: MemoryPage, nav: false, scoped: true },
];

export const pageOf = (path: string): PageSpec => PAGES.find((page) => page.path === path) ?? PAGES[0]!;
