import { endpointUrl } from '@bakehouse/contract/endpoint-url';
import { openSharedOutput, type SharedGeneration } from '@bakehouse/contract/generation-shares';
import { titleOf } from '@bakehouse/contract/generators/stand-in';
import type { Services } from '../../../platform/context.ts';
import { findShared } from './find-shared.ts';

/** What the page behind a link shows. Throws what `findShared` throws. */
export async function getSharedGeneration(
  services: Pick<Services, 'db' | 'config'>,
  { token }: { token: string },
): Promise<SharedGeneration> {
  const { row, outputs, maker } = await findShared(services, token);
  return {
    ...{ generator: row.generator, title: titleOf(row.generator, row.model), prompt: row.prompt, maker },
    outputs: outputs.map((output) => {
      const { id, media_type, width, height, duration_s, has_audio } = output;
      const url = sharedOutputUrl(token, id);
      const hasThumbnail = output.thumbnail_sha256 !== null;
      const thumbnail_url = hasThumbnail ? sharedOutputUrl(token, id, { thumbnail: true }) : url;
      return { id, media_type, width, height, duration_s, has_audio, url, thumbnail_url };
    }),
    created_at: row.created_at.toISOString(),
  };
}

function sharedOutputUrl(token: string, outputId: string, query?: { thumbnail: boolean }): string {
  return endpointUrl(openSharedOutput.path, { token, outputId }, query);
}
