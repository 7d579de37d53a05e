import { findMissingParts } from './find-missing-parts.ts';
import { nameMissing } from './name-missing.ts';

/** Adapters and vision projectors are separate from the model itself. */
const BESIDE = /(^|\/)(adapter|mmproj)[^/]*$/i;
const NUMBER = /-\d{5}-of-(\d{5})\.gguf$/;

/**
 * Returns the GGUF files that llama.cpp loads: one file or numbered parts. Empty and without a fault if the
 * model has no GGUF. `fault` is a sentence without a full stop.
 */
export function findGguf<F extends { path: string }>({
  asset: { title },
  files,
}: {
  asset: { title: string };
  files: F[];
}): { files: F[]; fault: string | null } {
  const found = files
    .filter(({ path }) => path.endsWith('.gguf') && !BESIDE.test(path))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const paths = found.map(({ path }) => path);
  const models = Map.groupBy(paths, (path) => path.replace(NUMBER, '-of-$1.gguf'));
  if (models.size <= 1) return { files: found, fault: nameMissing(title, findMissingParts(paths)) };
  const names = new Intl.ListFormat('en-GB').format([...models.values()].flatMap(([first = '']) => first));
  return {
    files: found,
    fault: `${title} has several GGUF models, ${names}, of which one can be served: delete the others`,
  };
}
