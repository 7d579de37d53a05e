import { findMissingParts } from './find-missing-parts.ts';

const SHARD = /^(.+)-\d{5}-of-\d{5}\.safetensors$/;

/** What weights in numbered files lack to be loaded, the list that says which tensor lies in which of them included. Pure. */
export function findMissingShards(paths: string[]): string[] {
  const there = new Set(paths);
  const lists = new Set(paths.flatMap((path) => SHARD.exec(path)?.[1] ?? []));
  return [
    ...findMissingParts(paths),
    ...[...lists].map((name) => `${name}.safetensors.index.json`).filter((list) => !there.has(list)),
  ].toSorted();
}
