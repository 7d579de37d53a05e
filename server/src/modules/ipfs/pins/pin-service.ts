import type { Readable } from 'node:stream';
import type { PinServiceName, PinState } from '@bakehouse/contract/ipfs';
import type { Config } from '../../../config.ts';
import type { PinRow } from '../queries.ts';

/** Reason for a failed pin, as a sentence for the files' owner. */
export class PinFailure extends Error {}

/** Characters of a service's response that are shown. */
const SHOWN_MAX = 200;

/** State of a pin at a service. */
export type PinReport = { state: PinState; reason: string | null; requestId: string | null };

/** A service that stores and provides content by CID. Its operations are idempotent. */
export type PinService = {
  name: PinServiceName;
  /**
   * Pins the CID if it is not pinned yet, and returns the state. Calls `onPinning` if pinning takes a while.
   * Throws PinFailure, and the errors of `readCar`.
   */
  keep: (
    pin: Pick<PinRow, 'cid' | 'request_id'>,
    parts: {
      /** All blocks below the CID. */
      readCar: () => Promise<{ car: Readable; bytes: number }>;
      onPinning: () => Promise<void>;
      signal: AbortSignal;
    },
  ) => Promise<PinReport>;
  /** Unpins the CID. Does nothing if it is not pinned. Throws PinFailure. */
  drop: (pin: Pick<PinRow, 'cid' | 'request_id'>, signal: AbortSignal) => Promise<void>;
};

/** Formats a service's response for display: on one line, and shortened. */
export function shown(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > SHOWN_MAX ? `${line.slice(0, SHOWN_MAX)}…` : line;
}

/** Returns the names of the configured pin services. */
export function configuredServices({ ipfs }: Pick<Config, 'ipfs'>): PinServiceName[] {
  if (!ipfs) return [];
  return ipfs.pinning ? ['kubo', 'pinning_service'] : ['kubo'];
}
