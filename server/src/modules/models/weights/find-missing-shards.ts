import { findMissingParts } from './find-missing-parts.ts';

const SHARD = /^(.+)-\d{5}-of-\d{5}\.safetensors$/;

/** Returns the missing files of sharded weights, including the index that maps tensors to shards. */
export function findMissingShards(paths: string[]): string[] {
  const there = new Set(paths);
  const lists = new Set(paths.flatMap((path) => SHARD.exec(path)?.[1] ?? []));
  return [
    ...findMissingParts(paths),
    ...[...lists].map((name) => `${name}.safetensors.index.json`).filter((list) => !there.has(list)),
  ].toSorted();
}
