// When a failed call is repeated, and after which wait.

import { LociError } from "./errors.js";

/** How calls are repeated. Only connections that fail and errors that are `retryable` are. */
export interface RetryOptions {
  /** Number of attempts, with the first one. 1 repeats nothing. Default: 3. */
  attempts?: number;
  /** Milliseconds before the second attempt; each further wait is twice as long. Default: 1,000. */
  delayMs?: number;
  /** The longest wait in milliseconds, also if the server asks for a longer one. Default: 30,000. */
  maxDelayMs?: number;
}

/** Retry options with all values. */
export type RetryPolicy = Required<RetryOptions>;

/** The policy of options, with the defaults. */
export function retryPolicy(options: RetryOptions = {}): RetryPolicy {
  const { attempts = 3, delayMs = 1000, maxDelayMs = 30_000 } = options;
  if (!Number.isInteger(attempts) || attempts < 1) throw new RangeError(`retry.attempts must be 1 or more, not ${attempts}`);
  if (!(delayMs >= 0 && maxDelayMs >= 0)) throw new RangeError("retry.delayMs and retry.maxDelayMs must be 0 or more");
  return { attempts, delayMs, maxDelayMs };
}

/**
 * The milliseconds to wait after the failure of an attempt (1 is the first): half of them fixed, half by chance, so that
 * clients that failed together do not return together. The server's `Retry-After` is the least wait.
 */
export function delayAfter(attempt: number, policy: RetryPolicy, retryAfterMs = 0, random = Math.random()): number {
  const full = Math.min(policy.delayMs * 2 ** (attempt - 1), policy.maxDelayMs);
  return Math.min(Math.max(full * (0.5 + random / 2), retryAfterMs), policy.maxDelayMs);
}

/** Waits, and rejects with the reason of the signal if it is aborted meanwhile. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error);
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", abort, { once: true });
  });
}

/** Runs attempts until one succeeds, fails for good, or is the last. */
export async function withRetries<T>(policy: RetryPolicy, signal: AbortSignal | undefined, attempt: () => Promise<T>): Promise<T> {
  for (let number = 1; ; number += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof LociError) || !error.retryable || number >= policy.attempts) throw error;
      await sleep(delayAfter(number, policy, error.retryAfterMs), signal);
    }
  }
}
