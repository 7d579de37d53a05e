import { randomUUID } from 'node:crypto';
import type { Endpoint } from '@bakehouse/contract/endpoint';

export type Input = { params?: Record<string, string>; query?: Record<string, string>; body?: object };

/** A form with a file. The file is stored under its own name unless `path` is set. */
export function form(name: string, bytes: Buffer, path?: string): FormData {
  const body = new FormData();
  if (path !== undefined) body.set('path', path);
  body.set('data_file', new Blob([new Uint8Array(bytes)]), name);
  return body;
}

function document(name: string): FormData {
  const body = new FormData();
  body.set('document', new Blob(['Rye']), name);
  return body;
}

const lfsBatch = { operation: 'upload', objects: [{ oid: '0'.repeat(64), size: 1 }] };

/** Inputs that calls require in addition to their path. */
export const inputs: Record<string, Input> = {
  'GET /api/v1/asset/:id/preview': { query: { path: 'rows.csv' } },
  'GET /api/v1/asset/:id/columns': { query: { path: 'rows.csv' } },
  'PUT /api/v1/asset/:id/card': { body: { content: '# Rows', parent_commit: 'a'.repeat(40) } },
  'PUT /api/v1/asset/:id/captions': {
    body: { captions: [{ path: 'a.png', line: null, text: 'a' }], parent_commit: 'a'.repeat(40) },
  },
  'PATCH /api/v1/asset/:id/rows': {
    body: { path: 'rows.csv', revision_id: randomUUID(), edits: [{ cells: '{"question": "mine"}' }] },
  },
  'GET /api/v1/asset/:id/rows': { query: { path: 'rows.csv', text: 'a' } },
  'GET /api/v1/asset/:id/pictures': { query: { path: 'rows.csv', column: 'question' } },
  'POST /api/v1/asset/:id/sql': { body: { query: 'FROM rows' } },
  'POST /api/v1/asset/:id/sql/export': { body: { query: 'FROM rows' } },
  'GET /api/v1/asset/:id/versions': { query: { path: 'rows.csv' } },
  'GET /api/v1/asset/:id/link': { query: { path: 'rows.csv' } },
  'POST /api/v1/asset/:id/chats': { body: { messages: [{ role: 'assistant', content: 'a' }] } },
  'DELETE /api/v1/asset/:id/file': { body: { file_path: 'rows.csv' } },
  'PATCH /api/v1/configurations/:configId': { body: { config_name: 'mine now' } },
  'PATCH /api/v1/api_keys/:keyId': { body: { name: 'mine now' } },
  'POST /api/v1/api_keys/:keyId/rotate': { body: {} },
  'POST /api/v1/runs/:runId/resume': { body: {} },
  'POST /api/v1/asset/:id/exports': { body: { format: 'safetensors' } },
  'POST /v1/starters/:model/edit_url': { body: { prompt: 'Blue', image_url: 'https://example.com/' } },
  'POST /v1/deployments/:podId/edit_url': { body: { prompt: 'Blue', image_url: 'https://example.com/' } },
  'POST /hub/api/:type/:namespace/:name/paths-info/:revision': { body: { paths: ['rows.csv'] } },
  'POST /hub/api/:type/:namespace/:name/tag/:revision': { body: { tag: 'v1' } },
  'POST /hub/api/:type/:namespace/:name/preupload/:revision': { body: { files: [] } },
  'POST /hub/:namespace/:name/info/lfs/objects/batch': { body: lfsBatch },
  'POST /hub/datasets/:namespace/:name/info/lfs/objects/batch': { body: lfsBatch },
  'POST /api/v1/asset/:id/shares': { body: { username: 'somebody' } },
  'POST /api/v1/asset/:id/uploads': { body: { path: 'more.csv', size_bytes: 1 } },
  'PUT /api/v1/asset/:id/uploads/:uploadId/parts/:number': { query: { sha256: '0'.repeat(64) } },
  'POST /api/v1/drafts/:draft_id/documents': { body: document('bread.md') },
  'POST /api/v1/drafts/:draft_id/quote': { body: {} },
  'POST /api/v1/drafts/:draft_id/start': { body: {} },
  'PATCH /api/v1/drafts/:draft_id/rows/:row_id': { body: { question: 'mine', answer: 'now' } },
  'POST /api/v1/drafts/:draft_id/rows/delete': { body: { row_ids: [randomUUID()] } },
  'POST /api/v1/drafts/:draft_id/save': { body: { asset_id: randomUUID() } },
  'POST /api/v1/asset/:id/upload': { body: form('rows.csv', Buffer.from('mine now')) },
};

/** Paths whose `:id` is neither a dataset nor a model. */
export function paramsOf({ path: url }: Endpoint, things: Record<string, string>): Record<string, string> {
  if (url.includes('/video/generations/:id')) return { ...things, id: things.videoId ?? '' };
  if (url.includes('/generations/:id')) return { ...things, id: things.generationId ?? '' };
  // Git LFS appends `.git` to the names of repositories.
  if (url.includes('/info/lfs/'))
    return { ...things, name: url.startsWith('/hub/datasets') ? 'rows.git' : 'base.git' };
  if (url.startsWith('/hub/:namespace/:name/')) return { ...things, name: 'base', '*': 'config.json' };
  if (url.startsWith('/hub/') && url.includes('/tree/')) return { ...things, '*': 'folder' };
  if (url.includes('/huggingface/')) return { ...things, id: things.cloneId ?? '' };
  if (url.includes('/generated/images/:id')) return { ...things, id: things.outputId ?? '' };
  const isImage = url.includes('/pod/flux') || url.startsWith('/v1/deployments/');
  return isImage ? { ...things, podId: things.imagePodId ?? '' } : things;
}
