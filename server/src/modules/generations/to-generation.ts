import type { Generation } from '@bakehouse/contract/generations';
import { formatBgl } from '@bakehouse/contract/money';
import type { Services } from '../../platform/context.ts';
import { linkBlob } from '../assets/files/links/link-blob.ts';
import type { NamedRevision } from '../assets/revisions/find-revisions.ts';
import type { Thumbnail } from '../media/thumbnails/make-thumbnail.ts';
import { toThumbnail } from '../media/thumbnails/thumbnail-columns.ts';
import { findServiceTitle } from '../providers/find-upstreams.ts';
import { mediumOf } from './media-table.ts';
import type { GenerationRow, OutputRow } from './queries.ts';
import type { InputPicture } from './sources/picture-queries.ts';

type Beside = {
  outputs: OutputRow[];
  /** The input picture. */
  source: InputPicture | null;
  /** The latest preview; null before the first one and after the end. */
  preview: string | null;
  /** Number of generations ahead of it; null if it is not waiting. */
  position: number | null;
  /** Revision of the model that generated it, if both still exist. */
  modelRevision: NamedRevision | null;
  /** Revision of its LoRA, if both still exist. */
  lora: NamedRevision | null;
};

/** Returns a generation for the API. */
export async function toGeneration(
  services: Pick<Services, 'blobs' | 'clock' | 'config'>,
  row: GenerationRow,
  { outputs, source, preview, position, modelRevision, lora }: Beside,
): Promise<Generation> {
  const { prompt, parameters, state, step, steps, details } = row;
  return {
    id: row.id,
    ...{ generator: row.generator, provider: row.provider, model: row.model },
    service: row.provider === 'own' ? null : findServiceTitle(row.generator, row.model),
    model_revision: modelRevision && toNamedRevision(modelRevision),
    lora_revision: lora && toNamedRevision(lora),
    ...{ prompt, parameters, state, step, steps, preview },
    expert_weights: details.expert_weights ?? null,
    expert_used: details.expert_used ?? null,
    routing_confidence: details.routing_confidence ?? null,
    seed: row.seed === null ? null : Number(row.seed),
    source: source && (await toSource(services, row, source)),
    root_id: row.root_generation_id ?? row.id,
    reason: state === 'queued' ? whyItWaits(row, position) : row.reason,
    refused: row.refused,
    position: state === 'queued' ? (position ?? 0) : null,
    cost: formatBgl(row.charged_micro ?? row.held_micro),
    outputs: await Promise.all(
      outputs.map((output, index) =>
        toOutput(services, nameOf(row, outputs.length > 1 ? index : null), output),
      ),
    ),
    created_at: row.created_at.toISOString(),
    started_at: row.started_at?.toISOString() ?? null,
    ended_at: row.ended_at?.toISOString() ?? null,
  };
}

function toNamedRevision({ assetId, revisionId, number, title }: NamedRevision) {
  return { asset_id: assetId, revision_id: revisionId, number, title };
}

function whyItWaits({ reason, generator }: GenerationRow, position: number | null): string {
  if (reason !== '') return reason;
  if (!position) return 'Next in the queue';
  const { noun } = mediumOf(generator);
  return position === 1 ? `One ${noun} ahead of yours` : `${position} ${noun}s ahead of yours`;
}

/** Returns a download's file name: generator and seed, plus an index if there are several. */
function nameOf({ id, generator, seed }: GenerationRow, index: number | null): string {
  const place = index === null ? '' : `-${index + 1}`;
  return `${generator}-${seed ?? id.slice(-8)}${place}`;
}

async function toSource(
  services: Pick<Services, 'blobs' | 'clock' | 'config'>,
  { user_id: user, source_generation_id, source_output_id }: GenerationRow,
  { sha256, mediaType, width, height, thumbnail }: InputPicture,
): Promise<NonNullable<Generation['source']>> {
  const path = `source.${mediaType.split('/')[1]}`;
  const { url } = await linkBlob(services, { user, sha256, path, disposition: 'inline' });
  return {
    ...{ generation_id: source_generation_id, output_id: source_output_id },
    ...{ url, thumbnail_url: await linkThumbnail(services, { user, thumbnail, url }) },
    ...{ media_type: mediaType, width, height },
  };
}

async function toOutput(
  services: Pick<Services, 'blobs' | 'clock' | 'config'>,
  name: string,
  row: OutputRow,
): Promise<Generation['outputs'][number]> {
  const { id, user_id: user, sha256, media_type, width, height, size_bytes, duration_s } = row;
  const path = `${name}.${media_type.split('/')[1]}`;
  const [shown, saved] = await Promise.all([
    linkBlob(services, { user, sha256, path, disposition: 'inline' }),
    linkBlob(services, { user, sha256, path, disposition: 'attachment' }),
  ]);
  return {
    ...{ id, media_type, width, height, duration_s },
    ...{ frames: row.frames, has_audio: row.has_audio },
    url: shown.url,
    thumbnail_url: await linkThumbnail(services, { user, thumbnail: toThumbnail(row), url: shown.url }),
    strip_url: row.strip_sha256 === null ? null : (await linkStrip(services, row, row.strip_sha256)).url,
    download_url: saved.url,
    size_bytes: Number(size_bytes),
  };
}

function linkStrip(
  services: Pick<Services, 'blobs' | 'clock' | 'config'>,
  { user_id: user }: OutputRow,
  sha256: string,
) {
  return linkBlob(services, { user, sha256, path: 'frames.webp', disposition: 'inline' });
}

/** Returns a link to the thumbnail of the picture at `url`; falls back to `url`. */
async function linkThumbnail(
  services: Pick<Services, 'blobs' | 'clock' | 'config'>,
  { user, thumbnail, url }: { user: string; thumbnail: Thumbnail | null; url: string },
): Promise<string> {
  if (!thumbnail) return url;
  const { sha256 } = thumbnail;
  const path = 'thumbnail.webp';
  return (await linkBlob(services, { user, sha256, path, disposition: 'inline' })).url;
}
