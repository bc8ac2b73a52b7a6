// Values that several parts of the page share, and hooks that read them.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";

/** A value with listeners. */
export class Shared<T> {
  #value: T;
  #listeners = new Set<() => void>();

  constructor(value: T) {
    this.#value = value;
  }

  get value(): T {
    return this.#value;
  }

  set value(value: T) {
    this.#value = value;
    for (const listener of [...this.#listeners]) listener();
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** The value, and a new rendering whenever it changes. */
export function useShared<T>(shared: Shared<T>): T {
  const [, render] = useState(0);
  useEffect(() => shared.subscribe(() => render((count) => count + 1)), [shared]);
  return shared.value;
}

/** What a request has brought so far. */
export interface Loaded<T> {
  data: T | undefined;
  error: Error | undefined;
  loading: boolean;
  reload: () => void;
}

/** Grows when the server answers again after a pause, so that what failed is loaded again. */
export const revived = new Shared(0);

/** Loads something, again when one of `inputs` changes. The answer of a request that is out of date is dropped. */
export function useLoad<T>(load: (signal: AbortSignal) => Promise<T>, inputs: unknown[]): Loaded<T> {
  const [data, setData] = useState<T>();
  const [error, setError] = useState<Error>();
  const [loading, setLoading] = useState(true);
  const [count, setCount] = useState(0);
  const life = useShared(revived);
  const key = JSON.stringify(inputs);
  const known = useRef(key);
  useEffect(() => {
    const abort = new AbortController();
    // Another question: the old answer must not stand beside it.
    if (known.current !== key) setData(undefined);
    known.current = key;
    setLoading(true);
    setError(undefined);
    load(abort.signal).then(
      (value) => {
        if (abort.signal.aborted) return;
        setData(value);
        setLoading(false);
      },
      (problem: Error) => {
        if (abort.signal.aborted) return;
        setError(problem);
        setLoading(false);
      },
    );
    return () => abort.abort();
  }, [key, count, life]);
  const reload = useCallback(() => setCount((value) => value + 1), []);
  return { data, error, loading, reload };
}
