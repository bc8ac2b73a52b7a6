// The frame of the console: who is signed in, whose memories are shown, and which page.
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

import { ApiError, get } from "./lib/api";
import { route } from "./lib/route";
import { firstScope, type Identity, identity, isChosen, key, scope, scopeText, signOut } from "./lib/session";
import { revived, useShared } from "./lib/state";
import { Shortcuts } from "./shortcuts";
import { Banner, Failure, Notes } from "./ui/basics";
import { ScopePicker } from "./ui/scope";
import { theme, toggleTheme } from "./ui/theme";
import { pageOf, PAGES } from "./pages";
import { SignIn } from "./pages/sign-in";

/** Whether someone was signed in since the page was loaded. */
let occupied = false;

/** Asks who the credential is. Refused: someone has to sign in. */
async function identify(): Promise<void> {
  const who = await get<Identity>("/v1/whoami");
  // Another credential must not find what the one before was shown.
  if (occupied) return location.reload();
  occupied = true;
  identity.value = who;
  scope.value = firstScope(who);
}

export function App(): JSX.Element {
  const who = useShared(identity);
  const [state, setState] = useState<"asking" | "out" | "broken">("asking");
  const [error, setError] = useState<Error>();
  const life = useShared(revived);
  useEffect(() => {
    if (who) return;
    identify().catch((problem: Error) => {
      const refused = problem instanceof ApiError && (problem.status === 401 || problem.status === 403);
      setState(refused ? "out" : "broken");
      setError(refused && key.value === "" ? undefined : problem);
    });
  }, [who, life]);
  if (who) return <Frame who={who} />;
  return (
    <>
      <Banner />
      {state === "out" && <SignIn error={error} enter={identify} />}
      {state === "broken" && error && (
        <main class="sign-in">
          <Failure error={error} again={() => location.reload()} />
        </main>
      )}
    </>
  );
}

function Frame({ who }: { who: Identity }): JSX.Element {
  const { page } = useShared(route);
  const current = pageOf(page);
  const chosen = useShared(scope);
  useEffect(() => {
    document.title = `${current.title} · Loci`;
  }, [current.title]);
  const Page = current.view;
  return (
    <div class="frame">
      <a class="skip" href="#main" onClick={(event) => {
        event.preventDefault();
        document.getElementById("main")?.focus();
      }}>
        Skip to the page
      </a>
      <header class="top">
        <a class="brand" href="#/" aria-label="Loci, first steps">
          <span class="brand-mark" aria-hidden="true" />
          Loci
        </a>
        <ScopePicker />
        <div class="top-right">
          <Theme />
          <span class="who" title={`tenant ${who.tenant}, role ${who.role}`}>
            {who.open ? "open server" : `${who.role}`}
          </span>
          {!who.open && <button class="plain" onClick={signOut}>Sign out</button>}
        </div>
      </header>
      <nav class="side" aria-label="Pages">
        {PAGES.filter((one) => one.nav).map((one) => (
          <a key={one.path} href={`#/${one.path}`} aria-current={current === one ? "page" : undefined}>
            {one.title}
            {one.shortcut && <kbd aria-hidden="true">g {one.shortcut}</kbd>}
          </a>
        ))}
      </nav>
      <main id="main" tabIndex={-1}>
        <Banner />
        {isChosen(chosen) || !current.scoped ? (
          <Page key={`${current.path} ${scopeText(chosen)}`} />
        ) : (
          <p class="empty">Choose whose memories you want to see, at the top of the page.</p>
        )}
      </main>
      <Notes />
      <Shortcuts />
    </div>
  );
}

function Theme(): JSX.Element {
  const now = useShared(theme);
  return (
    <button class="plain" onClick={toggleTheme} aria-label={`Colours: ${now}. Change`} title={`Colours: ${now}`}>
      {now === "dark" ? "☾" : now === "light" ? "☀" : "◐"}
    </button>
  );
}
