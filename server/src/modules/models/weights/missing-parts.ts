import { listModelFiles } from './list-model-files.ts';

const PART = /^(.+)-\d{5}-of-(\d{5})(\.safetensors|\.gguf)$/;

/** No model has more parts, but a file name can claim any number. */
const PARTS_MAX = 1000;

const SHARD = /^(.+)-\d{5}-of-\d{5}\.safetensors$/;
const NAMED_MAX = 3;

/** Returns the missing parts of numbered weights such as model-00001-of-00003.safetensors. */
export function findMissingParts(paths: string[]): string[] {
  const wholes = new Map<string, string[]>();
  for (const path of paths) {
    const [, name = '', count = '', extension = ''] = PART.exec(path) ?? [];
    const key = `${name}-of-${count}${extension}`;
    if (wholes.has(key) || Number(count) > PARTS_MAX) continue;
    const number = (index: number) => String(index + 1).padStart(5, '0');
    wholes.set(
      key,
      Array.from({ length: Number(count) }, (_, i) => `${name}-${number(i)}-of-${count}${extension}`),
    );
  }
  const there = new Set(paths);
  return [...wholes.values()].flat().filter((part) => !there.has(part));
}

/** Returns the missing files of sharded weights: shards, and the index that maps tensors to shards. */
export function findMissingShards(paths: string[]): string[] {
  const there = new Set(paths);
  const lists = new Set(paths.flatMap((path) => SHARD.exec(path)?.[1] ?? []));
  return [
    ...findMissingParts(paths),
    ...[...lists].map((name) => `${name}.safetensors.index.json`).filter((list) => !there.has(list)),
  ].toSorted();
}

/** Returns a sentence (without full stop) that lists the missing files; null if none are missing. */
export function nameMissing(title: string, missing: string[]): string | null {
  if (missing.length === 0) return null;
  const named = missing.slice(0, NAMED_MAX);
  const others = missing.length - named.length;
  const names = others > 0 ? [...named, `${others} more`] : named;
  const list = new Intl.ListFormat('en-GB').format(names);
  return `${title} is incomplete: ${list} ${missing.length > 1 ? 'are' : 'is'} missing`;
}

/** True if the files are a complete model in safetensors, not only an adapter. */
export function isWholeModel(files: { path: string }[]): boolean {
  const isAdapter = files.some(({ path }) => path === 'adapter_config.json');
  return !isAdapter && listModelFiles(files).some(({ path }) => path.endsWith('.safetensors'));
}
