import { readdir } from 'node:fs/promises';
import path from 'node:path';

/** The device files of NVIDIA's and AMD's GPUs on this machine. */
export async function gpuDevices(): Promise<string[]> {
  const lists = await Promise.all([
    listFiles('/dev', /^(nvidia|kfd$)/),
    listFiles('/dev/nvidia-caps', /./),
    listFiles('/dev/dri', /^render/),
  ]);
  return lists.flat();
}

async function listFiles(folder: string, named: RegExp): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => !entry.isDirectory() && named.test(entry.name))
    .map(({ name }) => path.join(folder, name));
}
