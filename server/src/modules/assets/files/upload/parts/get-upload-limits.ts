import type { getUploadLimits as endpoint } from '@bakehouse/contract/asset-uploads';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context, Services } from '../../../../../platform/context.ts';

/** What the largest file may have that comes in parts. */
export function fileBytesMax({ fileGb }: Services['config']): number {
  return Math.floor(fileGb * 1024 ** 3);
}

export async function getUploadLimits({ config }: Context): Promise<ResponseOf<typeof endpoint>> {
  return { file_bytes_max: fileBytesMax(config) };
}
