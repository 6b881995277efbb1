/** What a session is told, and what it holds failures against. */

import assert from "node:assert/strict";
import { DuetError } from "@duet/client";

interface Asked {
  /** Where a server is whose answers to writes are lost the first time. */
  lossy: string;
  user: string;
  password: string;
}

export const asked = JSON.parse(process.argv[2] ?? "") as Asked;

/** How something fails, which it must. */
export async function failure(asking: Promise<unknown>): Promise<DuetError> {
  try {
    await asking;
  } catch (failure) {
    assert.ok(failure instanceof DuetError, String(failure));
    return failure;
  }
  throw new assert.AssertionError({ message: "it was not refused" });
}

/** Holds that something fails so, and answers how. */
export async function refused(status: number, code: string, asking: Promise<unknown>): Promise<DuetError> {
  const refusal = await failure(asking);
  assert.equal(`${refusal.status} ${refusal.code}`, `${status} ${code}`, refusal.message);
  return refusal;
}

export async function all<T>(records: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const record of records) found.push(record);
  return found;
}
