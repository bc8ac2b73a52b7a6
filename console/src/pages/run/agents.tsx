// The agents of the tenant, and the pools that they share.
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { get, type Page, pathPart, remove, type Schemas, write } from "../../lib/api";
import { useLoad } from "../../lib/state";
import { Action, Dialog, Empty, Load, note, TextField, Time } from "../../ui/basics";

export function Agents(): JSX.Element {
  const agents = useLoad((signal) => get<Page<Schemas["Agent"]>>("/v1/agents", { limit: 500 }, signal), []);
  const [name, setName] = useState("");
  const [removing, setRemoving] = useState<string>();
  return (
    <>
      <div class="fields">
        <TextField label="New agent" value={name} set={setName} placeholder="planner" />
      </div>
      <div class="actions">
        <Action
          tone="main"
          disabled={name.trim() === ""}
          run={async () => {
            await write("POST", "/v1/agents", { agentId: name.trim() });
            note(`${name.trim()} is registered.`);
            setName("");
            agents.reload();
          }}
        >
          Register
        </Action>
      </div>
      <Load of={agents}>
        {(page) =>
          page.data.length === 0 ? (
            <Empty>No agent is registered. An agent that writes needs no registration; it may have settings of its own.</Empty>
          ) : (
            <table class="list">
              <thead>
                <tr>
                  <th>agent</th>
                  <th>since</th>
                  <th>settings</th>
                  <th>
                    <span class="visually-hidden">actions</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {page.data.map((agent) => (
                  <tr key={agent.agentId}>
                    <th scope="row">{agent.agentId}</th>
                    <td>
                      <Time at={agent.createdAt} />
                    </td>
                    <td>{Object.keys((agent.settings as object | null) ?? {}).length > 0 ? <code>{JSON.stringify(agent.settings)}</code> : "as configured"}</td>
                    <td>
                      <button class="plain" onClick={() => setRemoving(agent.agentId)}>
                        Remove
                      </button>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )
        }
      </Load>
      {removing && <Removal what="agent" name={removing} path={`/v1/agents/${pathPart(removing)}`} close={() => setRemoving(undefined)} done={agents.reload} />}
    </>
  );
}

/** Asks for the name again, because everything in the memory goes for good. */
function Removal({ what, name, path, close, done }: { what: string; name: string; path: string; close: () => void; done: () => void }): JSX.Element {
  const [typed, setTyped] = useState("");
  return (
    <Dialog title={`Remove the ${what} ${name}`} close={close}>
      <p>Everything in the memory of this {what} is removed for good.</p>
      <TextField label={`Type ${name}`} value={typed} set={setTyped} wide autofocus />
      <div class="actions">
        <Action
          tone="danger"
          disabled={typed !== name}
          run={async () => {
            await remove(path);
            note(`${name} is removed.`);
            close();
            done();
          }}
        >
          Remove for good
        </Action>
        <button onClick={close}>Cancel</button>
      </div>
    </Dialog>
  );
}

export function Pools(): JSX.Element {
  const pools = useLoad(async (signal) => {
    const page = await get<Page<Schemas["Pool"]>>("/v1/pools", { limit: 100, everyone: true }, signal);
    return Promise.all(page.data.map((pool) => get<Schemas["PoolDetails"]>(`/v1/pools/${pathPart(pool.poolId)}`, { everyone: true }, signal)));
  }, []);
  const [name, setName] = useState("");
  const [members, setMembers] = useState("");
  const [joining, setJoining] = useState<Record<string, string>>({});
  const [removing, setRemoving] = useState<string>();
  const list = (text: string): string[] => text.split(",").map((one) => one.trim()).filter((one) => one !== "");
  return (
    <>
      <div class="fields">
        <TextField label="New pool" value={name} set={setName} placeholder="team-notes" />
        <TextField label="Its first members" value={members} set={setMembers} placeholder="planner, coder" hint="agents" />
      </div>
      <div class="actions">
        <Action
          tone="main"
          disabled={name.trim() === "" || list(members).length === 0}
          run={async () => {
            await write("POST", "/v1/pools", { poolId: name.trim(), name: name.trim(), agentIds: list(members) });
            note(`${name.trim()} is made.`);
            setName("");
            setMembers("");
            pools.reload();
          }}
        >
          Make
        </Action>
      </div>
      <Load of={pools}>
        {(found) =>
          found.length === 0 ? (
            <Empty>No pool. A pool is a memory that several agents share.</Empty>
          ) : (
            <>
              {found.map((pool) => (
                <section class="card" key={pool.poolId}>
                  <h2>{pool.name || pool.poolId}</h2>
                  <ul class="plain-list">
                    {pool.members.map((member) => (
                      <li key={member.agentId}>
                        {member.agentId}{" "}
                        <Action
                          tone="plain"
                          run={async () => {
                            await remove(`/v1/pools/${pathPart(pool.poolId)}/members/${pathPart(member.agentId)}`);
                            pools.reload();
                          }}
                        >
                          Remove
                        </Action>
                      </li>
                    ))}
                  </ul>
                  <div class="fields">
                    <TextField
                      label="Add agents"
                      value={joining[pool.poolId] ?? ""}
                      set={(text) => setJoining({ ...joining, [pool.poolId]: text })}
                    />
                  </div>
                  <div class="actions">
                    <Action
                      disabled={list(joining[pool.poolId] ?? "").length === 0}
                      run={async () => {
                        await write("POST", `/v1/pools/${pathPart(pool.poolId)}/members`, { agentIds: list(joining[pool.poolId]!) });
                        setJoining({ ...joining, [pool.poolId]: "" });
                        pools.reload();
                      }}
                    >
                      Add
                    </Action>
                    <button class="danger" onClick={() => setRemoving(pool.poolId)}>
                      Remove the pool …
                    </button>
                  </div>
                </section>
              ))}
            </>
          )
        }
      </Load>
      {removing && <Removal what="pool" name={removing} path={`/v1/pools/${pathPart(removing)}`} close={() => setRemoving(undefined)} done={pools.reload} />}
    </>
  );
}
