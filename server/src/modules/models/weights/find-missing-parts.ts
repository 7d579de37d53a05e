const PART = /^(.+)-\d{5}-of-(\d{5})(\.safetensors|\.gguf)$/;

/** No model has more parts, but a file name can claim any number. */
const PARTS_MAX = 1000;

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
