import type { Capacity } from '../../../engine/queue/queue.ts';
import { findGguf } from '../../assets/weights/find-gguf.ts';

/**
 * What would keep a fine-tune of this base from being deployed here once it has been paid for. Pure.
 * @param obstacle why llama.cpp could not take the adapter; null: it can.
 */
export function warnOfServing(
  base: { asset: { title: string }; files: { path: string }[] },
  obstacle: string | null,
  capacity: Capacity,
): string[] {
  if (capacity.servesTextOnGpus) return [];
  const gguf = findGguf(base);
  const fault = gguf.files.length > 0 ? gguf.fault : `${base.asset.title} has no GGUF file`;
  const reason = fault === null ? obstacle : `${fault}.`;
  if (reason === null) return [];
  return [
    'What this run makes can be downloaded, but not deployed on this machine, ' +
      `which serves text with llama.cpp: ${reason}`,
  ];
}
