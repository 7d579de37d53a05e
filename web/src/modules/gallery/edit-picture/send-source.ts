import { getGeneration } from '@bakehouse/contract/generations';
import { uploadPicture } from '@bakehouse/contract/media';
import { call } from '../../../lib/api/api-client.ts';
import { upload } from '../../../lib/api/upload.ts';
import { fetchPicture } from '../actions/fetch-picture.ts';
import type { Mask, Source } from './source.ts';

/** How a request names its source. */
export type SentSource = { picture_id: string } | { source_generation_id: string; source_output_id?: string };

/** Called with the progress, 0 to 100. */
export type OnUpload = (percent: number) => void;

/** Sources that the server has; retries do not send them again. */
const sent = new WeakMap<object, SentSource>();
/** Ids of uploaded masks, by their file or the source of the edit that they belong to. */
const sentMasks = new WeakMap<object, string>();

/** A file is the same source regardless of its edits. */
const keyOf = (source: Source): object => ('file' in source ? source.file : source);

/** Makes the picture available on the server. Returns how a request names it. */
export async function sendSource(source: Source, onUpload: OnUpload): Promise<SentSource> {
  const known = sent.get(keyOf(source)) ?? (await send(source, onUpload));
  sent.set(keyOf(source), known);
  return known;
}

/** Called when the server no longer has it. */
export function clearUploaded(source: Source, mask: Mask): void {
  sent.delete(keyOf(source));
  sentMasks.delete(mask ?? source);
}

/** Returns the mask as a file: the painted one, or that of the earlier edit; null if there is none. */
export async function readMask(source: Source, mask: Mask): Promise<File | null> {
  if (mask !== undefined || !('sameAsId' in source)) return mask ?? null;
  const url = (await call(getGeneration, { params: { id: source.sameAsId } })).source?.mask_url;
  return url ? new File([await fetchPicture(url, 'mask')], 'mask.png', { type: 'image/png' }) : null;
}

/** Makes the mask available on the server, like `sendSource`. Returns its id; undefined if there is none. */
export async function sendMask(source: Source, mask: Mask): Promise<string | undefined> {
  if (mask === null) return undefined;
  const key = mask ?? source;
  const known = sentMasks.get(key);
  if (known !== undefined) return known;
  const file = await readMask(source, mask);
  if (!file) return undefined;
  const { id } = await upload(uploadPicture, {}, file);
  sentMasks.set(key, id);
  return id;
}

async function send(source: Source, onUpload: OnUpload): Promise<SentSource> {
  if ('generationId' in source) return made(source.generationId, source.outputId);
  if ('file' in source) return sendFile(source.file, onUpload);
  const edited = (await call(getGeneration, { params: { id: source.sameAsId } })).source;
  if (edited === null) throw new Error('That picture was made from a prompt only and has no source');
  if (edited.generation_id !== null) return made(edited.generation_id, edited.output_id ?? undefined);
  const bytes = await fetchPicture(edited.url, 'source');
  return sendFile(new File([bytes], 'source', { type: edited.media_type }), onUpload);
}

function made(source_generation_id: string, source_output_id?: string): SentSource {
  return { source_generation_id, ...(source_output_id !== undefined && { source_output_id }) };
}

async function sendFile(file: File, onUpload: OnUpload): Promise<SentSource> {
  onUpload(0);
  const { id } = await upload(uploadPicture, {}, file, {
    onProgress: (sentBytes, totalBytes) => onUpload((sentBytes / totalBytes) * 100),
  });
  return { picture_id: id };
}
