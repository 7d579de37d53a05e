import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { readOrMakeFile } from '../../platform/files/kept-file.ts';
import { isUuid } from '../../platform/is-uuid.ts';

/**
 * Returns the id of the machine that a data folder belongs to, from its file `machine`, which is created if
 * missing. `known` is the required id, if it is known without the file. Throws a plain sentence if the file
 * is unusable.
 */
export async function readMachineId(dataDir: string, known: string | null): Promise<string> {
  const file = path.join(dataDir, 'machine');
  const id = await readOrMakeFile(file, known ?? randomUUID());
  if (!isUuid(id)) {
    throw new Error(
      `${file} does not name a machine: restore it from a backup; without it this counts as another machine`,
    );
  }
  return id;
}
