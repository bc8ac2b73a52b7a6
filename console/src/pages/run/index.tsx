// Running the server: how it is, what it does, and who may use it.
import type { ComponentType, JSX } from "preact";

import { go, route } from "../../lib/route";
import { may } from "../../lib/session";
import { useShared } from "../../lib/state";
import { Tabs } from "../../ui/basics";
import { Agents, Pools } from "./agents";
import { Carry } from "./carry";
import { Events } from "./events";
import { Health } from "./health";
import { Jobs } from "./jobs";
import { Keys } from "./keys";
import { Maintenance } from "./maintenance";

/** The parts; those of an admin are offered to no one else. */
const PARTS: { id: string; title: string; view: ComponentType; admin: boolean }[] = [
  { id: "health", title: "Health", view: Health, admin: false },
  { id: "events", title: "Events", view: Events, admin: false },
  { id: "jobs", title: "Jobs", view: Jobs, admin: true },
  { id: "maintenance", title: "Maintenance", view: Maintenance, admin: true },
  { id: "keys", title: "Keys", view: Keys, admin: true },
  { id: "agents", title: "Agents", view: Agents, admin: true },
  { id: "pools", title: "Pools", view: Pools, admin: true },
  { id: "carry", title: "Export and erase", view: Carry, admin: false },
];

export function Run(): JSX.Element {
  const offered = PARTS.filter((part) => !part.admin || may("admin"));
  const wanted = useShared(route).rest[0];
  const current = offered.find((part) => part.id === wanted) ?? offered[0]!;
  const View = current.view;
  return (
    <>
      <h1>Run</h1>
      <Tabs label="Parts" tabs={offered.map((part) => [part.id, part.title] as const)} value={current.id} set={(id) => go("run", id)} />
      <div class="panel" role="tabpanel" aria-label={current.title}>
        <View key={current.id} />
      </div>
    </>
  );
}
