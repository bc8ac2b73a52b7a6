// Signing in with a key.
import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { key } from "../lib/session";
import { Failure, TextField } from "../ui/basics";

export function SignIn({ error, enter }: { error: Error | undefined; enter: () => Promise<void> }): JSX.Element {
  const [given, setGiven] = useState("");
  const [problem, setProblem] = useState(error);
  const [busy, setBusy] = useState(false);
  const submit = async (): Promise<void> => {
    setBusy(true);
    key.value = given.trim();
    try {
      await enter();
    } catch (refused) {
      key.value = "";
      setProblem(refused as Error);
      setBusy(false);
    }
  };
  return (
    <main class="sign-in">
      <h1>
        <span class="brand-mark" aria-hidden="true" /> Loci
      </h1>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <TextField label="Key" type="password" value={given} set={setGiven} placeholder="loci_…" autofocus required wide />
        <button class="main" type="submit" disabled={busy || given.trim() === ""}>
          Sign in
        </button>
      </form>
      {problem && <Failure error={problem} />}
      <p class="quiet">
        The key stays in this tab and is forgotten when you close it. Make one on the machine of the server with{" "}
        <code>loci key create --name me --role admin</code>.
      </p>
    </main>
  );
}
