// The keys of the tenant. A secret is shown once, when it is made.
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { get, type Page, pathPart, remove, type Schemas, write } from "../../lib/api";
import { identity, SORTS } from "../../lib/session";
import { useLoad } from "../../lib/state";
import { Action, Check, Choice, Copy, Dialog, Empty, Failure, Load, note, Tag, TextField, Time } from "../../ui/basics";

type Key = Schemas["ApiKey"];

export function Keys(): JSX.Element {
  const keys = useLoad((signal) => get<Page<Key>>("/v1/keys", { limit: 500 }, signal), []);
  const [making, setMaking] = useState(false);
  const [secret, setSecret] = useState<string>();
  const [revoking, setRevoking] = useState<Key>();
  const rotate = (key: Key) => async (): Promise<void> => {
    const made = await write<Schemas["ApiKeyWithSecretWrite"]>("POST", `/v1/keys/${pathPart(key.id)}/rotate`, { graceSeconds: 3600 });
    setSecret(made.data?.secret);
    keys.reload();
  };
  const wasOpen = identity.value?.open ?? false;
  return (
    <>
      <div class="actions">
        <button class="main" onClick={() => setMaking(true)}>
          Make a key …
        </button>
        {wasOpen && <span class="quiet">This server asks for no key yet. With the first key it asks everyone for one.</span>}
      </div>
      <Load of={keys}>
        {(page) =>
          page.data.length === 0 ? (
            <Empty>No key was made yet.</Empty>
          ) : (
            <div class="scroll">
              <table class="list">
                <thead>
                  <tr>
                    <th>name</th>
                    <th>role</th>
                    <th>bounds</th>
                    <th>made</th>
                    <th>expires</th>
                    <th>
                      <span class="visually-hidden">actions</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {page.data.map((key) => (
                    <tr key={key.id}>
                      <th scope="row">
                        {key.name} {!key.active && <Tag tone="bad">{key.revokedAt ? "revoked" : "expired"}</Tag>}
                      </th>
                      <td>
                        {key.role}
                        {key.rights && key.rights.length > 0 && ` and ${key.rights.join(", ")}`}
                      </td>
                      <td>{boundsText(key.bounds)}</td>
                      <td>
                        <Time at={key.createdAt} />
                      </td>
                      <td>
                        <Time at={key.expiresAt} />
                      </td>
                      <td>
                        {key.active && (
                          <>
                            <Action tone="plain" run={rotate(key)}>
                              Rotate
                            </Action>
                            <button class="plain" onClick={() => setRevoking(key)}>
                              Revoke
                            </button>
                          </>
                        )}
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </Load>
      {making && (
        <NewKey
          close={() => setMaking(false)}
          done={(made) => {
            setMaking(false);
            setSecret(made);
            if (!wasOpen) keys.reload();
          }}
        />
      )}
      {secret && (
        <Dialog
          title="The key"
          close={() => {
            setSecret(undefined);
            // The server asks for a key from now on.
            if (wasOpen) location.reload();
          }}
        >
          <p>Copy it now: it cannot be read again.</p>
          <p class="secret">{secret}</p>
          <Copy text={secret} label="Copy the key" />
        </Dialog>
      )}
      {revoking && (
        <Dialog title="Revoke" close={() => setRevoking(undefined)}>
          <p>
            Whoever uses the key <b>{revoking.name}</b> is refused at once. This cannot be undone.
          </p>
          <div class="actions">
            <Action
              tone="danger"
              run={async () => {
                await remove(`/v1/keys/${pathPart(revoking.id)}`);
                note(`${revoking.name} is revoked.`);
                setRevoking(undefined);
                keys.reload();
              }}
            >
              Revoke
            </Action>
            <button onClick={() => setRevoking(undefined)}>Cancel</button>
          </div>
        </Dialog>
      )}
    </>
  );
}

function boundsText(bounds: Schemas["Bounds"] | undefined): string {
  const parts = Object.entries(bounds ?? {}).flatMap(([sort, names]) => (names && names.length > 0 ? [`${sort}: ${names.join(", ")}`] : []));
  return parts.length > 0 ? parts.join("; ") : "the whole tenant";
}

const RIGHTS: [Schemas["Right"], string][] = [
  ["consent", "may accept and reject proposals"],
  ["erase", "may erase users in its bounds"],
  ["hard_delete", "may remove memories for good"],
];

function NewKey({ close, done }: { close: () => void; done: (secret: string) => void }): JSX.Element {
  const [name, setName] = useState("");
  const [role, setRole] = useState<Schemas["Role"]>("reader");
  const [sort, setSort] = useState("users");
  const [names, setNames] = useState("");
  const [expires, setExpires] = useState("");
  const [rights, setRights] = useState<Schemas["Right"][]>([]);
  const [error, setError] = useState<Error>();
  const make = async (): Promise<void> => {
    const bound = names.split(",").map((one) => one.trim()).filter((one) => one !== "");
    try {
      const made = await write<Schemas["ApiKeyWithSecretWrite"]>("POST", "/v1/keys", {
        name: name.trim(),
        role,
        rights,
        ...(bound.length > 0 ? { bounds: { [sort]: bound } } : {}),
        ...(expires ? { expiresAt: expires } : {}),
      });
      done(made.data!.secret);
    } catch (problem) {
      setError(problem as Error);
    }
  };
  return (
    <Dialog title="Make a key" close={close}>
      <div class="fields">
        <TextField label="name" value={name} set={setName} placeholder="what it is for" autofocus />
        <Choice
          label="role"
          value={role}
          set={(next) => setRole(next as Schemas["Role"])}
          options={[["reader", "reader: reads"], ["writer", "writer: also changes"], ["admin", "admin: also runs the tenant"]]}
        />
        <Choice label="bound to" value={sort} set={setSort} options={SORTS.map(([, , field]) => [field, field] as const)} />
        <TextField label="these" value={names} set={setNames} placeholder="ana, bo" hint="none: the whole tenant" />
        <TextField label="expires" value={expires} set={setExpires} type="date" hint="empty: never" />
      </div>
      {role !== "admin" &&
        RIGHTS.map(([right, about]) => (
          <Check
            key={right}
            label={about}
            value={rights.includes(right)}
            set={(on) => setRights(on ? [...rights, right] : rights.filter((one) => one !== right))}
          />
        ))}
      {error && <Failure error={error} />}
      <div class="actions">
        <Action tone="main" run={make} disabled={name.trim() === ""}>
          Make
        </Action>
        <button onClick={close}>Cancel</button>
      </div>
    </Dialog>
  );
}
