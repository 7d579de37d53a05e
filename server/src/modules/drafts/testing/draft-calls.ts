import * as contract from '@bakehouse/contract/drafts';
import type { CallOf } from '@bakehouse/contract/endpoint';
import { expect, vi } from 'vitest';
import type { TestServer, TestUser } from '../../../testing/test-server.ts';

type Settings = NonNullable<NonNullable<CallOf<typeof contract.startDraft>['body']>['settings']>;

/** For tests: calls of the drafts API. */
export function draftCalls(server: Pick<TestServer, 'request' | 'url'>) {
  const get = (as: TestUser, id: string) =>
    server.request(contract.getDraft, { params: { draft_id: id } }, { as });
  const add = async (as: TestUser, id: string, name: string, bytes: Buffer | string) => {
    const body = new FormData();
    body.set('document', new Blob([new Uint8Array(Buffer.from(bytes))]), name);
    const answer = await fetch(`${server.url}/api/v1/drafts/${id}/documents`, {
      ...{ method: 'POST', headers: { 'x-api-key': as.apiKey }, body },
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  return {
    get,
    add,
    /** Creates a draft with these documents. */
    create: async (as: TestUser, documents: Record<string, Buffer | string> = {}) => {
      const { draft_id: id } = await server.request(contract.createDraft, {}, { as });
      for (const [name, bytes] of Object.entries(documents))
        expect(await add(as, id, name, bytes)).toMatchObject({ status: 201 });
      return id;
    },
    quote: (as: TestUser, id: string, settings?: Settings) =>
      server.request(contract.quoteDraft, { params: { draft_id: id }, body: { settings } }, { as }),
    start: (as: TestUser, id: string, settings?: Settings, idempotencyKey?: string) =>
      server.request(
        contract.startDraft,
        { params: { draft_id: id }, body: { settings } },
        { as, idempotencyKey },
      ),
    cancel: (as: TestUser, id: string) =>
      server.request(contract.cancelDraft, { params: { draft_id: id } }, { as }),
    until: (as: TestUser, id: string, status: contract.Draft['status']) =>
      vi.waitFor(
        async () => {
          const draft = await get(as, id);
          expect(draft).toMatchObject({ status });
          return draft;
        },
        { interval: 50 },
      ),
    rows: async (as: TestUser, id: string, query: CallOf<typeof contract.listDraftRows>['query'] = {}) =>
      server.request(contract.listDraftRows, { params: { draft_id: id }, query }, { as }),
    save: (
      as: TestUser,
      id: string,
      body: CallOf<typeof contract.saveDraftRows>['body'],
      idempotencyKey?: string,
    ) => server.request(contract.saveDraftRows, { params: { draft_id: id }, body }, { as, idempotencyKey }),
  };
}
