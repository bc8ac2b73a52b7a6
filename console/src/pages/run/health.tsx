// How the server is: its parts, what it stores, and how fast it answers.
import type { JSX } from "preact";

import { get, type Schemas, scopeQuery, send } from "../../lib/api";
import { operations, samples } from "../../lib/metrics";
import { identity, isChosen, may, scope } from "../../lib/session";
import { useLoad } from "../../lib/state";
import { bytes, number, words } from "../../lib/text";
import { Load, Tag } from "../../ui/basics";

const TONE = { healthy: "good", degraded: "warn", unhealthy: "bad" } as const;

/** The answer says how the server is even if it is not ready. */
async function readiness(signal: AbortSignal): Promise<Schemas["Readiness"]> {
  const response = await fetch("/readyz", { signal, cache: "no-store" });
  return (await response.json()) as Schemas["Readiness"];
}

export function Health(): JSX.Element {
  const ready = useLoad(readiness, []);
  const stats = useLoad(
    (signal) => get<Schemas["Statistics"]>("/v1/stats", isChosen(scope.value) ? scopeQuery() : {}, signal),
    [],
  );
  return (
    <>
      <Load of={ready}>
        {({ status, components }) => (
          <div class="tiles">
            <Part name="Server" status={status} about={identity.value?.open ? "asks for no key" : "asks for a key"} />
            <Part
              name="Store"
              status={components.store.status}
              about={`${components.store.name ?? ""} ${components.store.version ?? ""}, ${components.store.latencyMs.toFixed(1)} ms`}
              message={components.store.message}
            />
            <Part
              name="Vectors"
              status={components.vectors.status}
              about={components.vectors.model ? `${components.vectors.model}, ${components.vectors.dimensions} dimensions` : "no embedding model: words only"}
              message={components.vectors.message}
            />
            {components.vectors.index && (
              <Part name="Vector index" status={components.vectors.index.behind > 0 ? "degraded" : "healthy"} about={`${components.vectors.index.name}, ${components.vectors.index.behind} behind`} />
            )}
            {components.tier && <Part name="Working memory" status={components.tier.status} about={components.tier.name ?? ""} message={components.tier.message} />}
          </div>
        )}
      </Load>
      <Load of={stats}>
        {(data) => (
          <>
            <h2>Stored</h2>
            <div class="tiles">
              <Tile name="memories" value={number(data.memories)} />
              {data.bytes > 0 && <Tile name="on disk" value={bytes(data.bytes)} />}
              <Tile name="without a vector" value={number(data.withoutVector)} />
              {data.ledger > 0 && <Tile name="changes recorded" value={number(data.ledger)} />}
              {data.entities > 0 && <Tile name="entities" value={number(data.entities)} />}
              <Tile name={data.spaces === 1 ? "space" : "spaces"} value={number(data.spaces)} />
            </div>
            <div class="counts">
              <Counts title="By kind" of={data.byKind} />
              <Counts title="By layer" of={data.byLayer} />
              <Counts title="By state" of={data.byState} />
              <Counts title="Links" of={data.edges} />
            </div>
          </>
        )}
      </Load>
      {may("admin") && <Rates />}
    </>
  );
}

function Part({ name, status, about, message }: { name: string; status: Schemas["HealthStatus"]; about: string; message?: string | undefined }): JSX.Element {
  return (
    <div class="tile">
      {name} <Tag tone={TONE[status]}>{status}</Tag>
      <p class="quiet">{about}</p>
      {message && <p>{message}</p>}
    </div>
  );
}

function Tile({ name, value }: { name: string; value: string }): JSX.Element {
  return (
    <div class="tile">
      <b>{value}</b> <span class="quiet">{name}</span>
    </div>
  );
}

function Counts({ title, of }: { title: string; of: Record<string, number> }): JSX.Element {
  const rows = Object.entries(of).sort(([, one], [, other]) => other - one);
  const most = Math.max(1, ...rows.map(([, value]) => value));
  return (
    <section>
      <h2>{title}</h2>
      {rows.length === 0 && <p class="quiet">none</p>}
      <table class="terms">
        <tbody>
          {rows.map(([name, value]) => (
            <tr key={name}>
              <th scope="row">{words(name)}</th>
              <td class="num">{number(value)}</td>
              <td class="bar-cell">
                <span class="clue-bar" aria-hidden="true">
                  <span style={{ width: `${(value / most) * 100}%` }} />
                </span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Rates(): JSX.Element {
  const metrics = useLoad(async (signal) => operations(samples(await (await send("GET", "/metrics", { signal })).text())), []);
  const time = (value: number | undefined): string =>
    value === undefined ? "–" : value === Infinity ? "over 30 s" : value >= 1000 ? `${(value / 1000).toFixed(1)} s` : `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
  return (
    <>
      <h2>
        Requests since the start{" "}
        <button class="plain" onClick={metrics.reload}>
          Load again
        </button>
      </h2>
      <Load of={metrics}>
        {(rows) => (
          <div class="scroll">
            <table class="list">
              <thead>
                <tr>
                  <th>operation</th>
                  <th class="num">requests</th>
                  <th class="num">mean</th>
                  <th class="num">95 % within</th>
                </tr>
              </thead>
              <tbody>
                {rows.slice(0, 25).map((row) => (
                  <tr key={row.name}>
                    <th scope="row">{words(row.name)}</th>
                    <td class="num">{number(row.count)}</td>
                    <td class="num">{time(row.mean)}</td>
                    <td class="num">{time(row.slow)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Load>
    </>
  );
}
