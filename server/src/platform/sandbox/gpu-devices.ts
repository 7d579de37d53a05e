import type { Stats } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';

/** Returns the device files of NVIDIA's and AMD's GPUs on this machine. */
export async function gpuDevices(): Promise<string[]> {
  const lists = await Promise.all([
    listFiles('/dev', /^(nvidia|kfd$)/),
    listFiles('/dev/nvidia-caps', /./),
    listFiles('/dev/dri', /^render/),
  ]);
  return lists.flat();
}

const EVERYBODY_USES = 0o006;
const ITS_GROUP_USES = 0o060;

/**
 * Returns the groups that give access to devices that not everyone may use. Never returns root's group:
 * drivers reserve some device files for it, but it also gives access to much else.
 */
export function groupsToUse(devices: Pick<Stats, 'mode' | 'gid'>[]): number[] {
  const used = devices.filter(
    ({ mode, gid }) =>
      gid !== 0 && (mode & EVERYBODY_USES) !== EVERYBODY_USES && (mode & ITS_GROUP_USES) === ITS_GROUP_USES,
  );
  return [...new Set(used.map(({ gid }) => gid))];
}

async function listFiles(folder: string, named: RegExp): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => !entry.isDirectory() && named.test(entry.name))
    .map(({ name }) => path.join(folder, name));
}
