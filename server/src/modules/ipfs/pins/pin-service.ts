import type { Readable } from 'node:stream';
import type { PinServiceName, PinState } from '@bakehouse/contract/ipfs';
import type { PinRow } from '../queries.ts';

/** How a pin stands at a service. */
export type PinReport = { state: PinState; reason: string | null; requestId: string | null };

/** Something that keeps what has a CID, and gives it to whoever asks for it. What it does may be asked for again. */
export type PinService = {
  name: PinServiceName;
  /**
   * Sees to it that the CID is pinned, and says how far that is. `onPinning` is called where it takes a while. Throws
   * PinFailure, and whatever `readCar` throws.
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
  /** Unpins it; done where it is not pinned. Throws PinFailure. */
  drop: (pin: Pick<PinRow, 'cid' | 'request_id'>, signal: AbortSignal) => Promise<void>;
};

/** Why a service did not do it, as a sentence for the people whose files they are. */
export class PinFailure extends Error {}

/** Answers of a service are shown up to here. */
const SHOWN_MAX = 200;

/** What a service has said, on one line. */
export function shown(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > SHOWN_MAX ? `${line.slice(0, SHOWN_MAX)}…` : line;
}
