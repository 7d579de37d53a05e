import {
  getConversation,
  saveConversation,
  TURNS_LENGTH_MAX,
  type Conversation as WireConversation,
} from '@bakehouse/contract/conversations';
import { call } from '../../lib/api/api-client.ts';
import { ApiError } from '../../lib/api/api-error.ts';
import { isRefused } from '../../lib/api/idempotency-key.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { newUuid } from '../../lib/new-id.ts';
import { browserStorage, readFromTab, writeToTab } from '../../lib/tab-storage.ts';
import type { Turn } from './chat.ts';
import { type ChatSettings, initialSettings } from './chat-options.tsx';
import { conversationQuery, type ReadConversation as Read } from './conversation-queries.ts';

export type Conversation = {
  turns: Turn[];
  /** The last question, if no part of an answer has arrived; otherwise empty. */
  unanswered: string;
  settings: ChatSettings;
};

/** A change to a conversation that can be applied to any version, including another tab's. */
type Change = (conversation: Conversation) => Conversation;

/** Debounces typing in the settings into one save. */
const GATHER_MS = 250;
/** Delay before the first retry of a failed save; it doubles each time. */
const RETRY_MS = 2_000;
const RETRY_MS_MAX = 60_000;
/** Maximum retries after another tab or device has saved first. */
const CONFLICTS_MAX = 5;
/** Browsers limit `keepalive` requests to 64 KiB. */
const KEEPALIVE_BYTES_MAX = 60_000;

export const emptyConversation: Conversation = { turns: [], unanswered: '', settings: initialSettings };

type Of = { userId: string; model: string; id: string };
/** Called with the changed conversation, and when a save fails. */
type Listeners = { show: (conversation: Conversation) => void; failed: (error: unknown) => void };

/**
 * The open conversation: the saved version plus pending changes. Saves run one at a time; on a conflict the
 * changes are reapplied to the version that another tab or device saved. Failed saves are retried.
 */
export class OpenConversation {
  private readonly of: Of;
  private readonly show: Listeners['show'];
  private readonly isKept: boolean;
  private readonly local: ReturnType<typeof localCopy>;
  private readonly saves: ReturnType<typeof gathered>;
  private isLeft = false;
  private version: number;
  private kept: Conversation;
  private changes: Change[] = [];
  /** Saves whose response was lost, with the number of changes in each. One of them may have succeeded. */
  private unanswered: { id: string; changes: number }[] = [];

  constructor(of: Of, read: Read, { show, failed }: Listeners) {
    this.of = of;
    this.show = show;
    this.isKept = read.is_kept;
    this.version = read.version;
    this.kept = fromWire(read.conversation);
    this.local = localCopy(of);
    this.saves = gathered({ isDue: () => this.changes.length > 0, work: () => this.save(), failed });
    const stored = this.local.read(read);
    if (stored) this.changes = [stored];
  }

  /**
   * Starts to save. Returns a function that makes later saves immediate, without batching. May be called again
   * afterwards.
   */
  open(): () => void {
    this.isLeft = false;
    this.saves.begin();
    if (this.isKept) void this.saves.run();
    return () => {
      this.isLeft = true;
      this.saves.flush();
    };
  }

  current(): Conversation {
    return this.changes.reduce((conversation, change) => change(conversation), this.kept);
  }

  change(made: Change): void {
    this.changes = [...this.changes, made];
    this.show(this.current());
    if (this.isKept) void this.saves.run();
  }

  /** Adopts a version that another tab or device saved. */
  follow(newer: Read): void {
    if (newer.version > this.version) this.adopt(newer);
  }

  /** Called while the page unloads: stores unsaved changes and `made` locally, and sends them once. */
  leave(made?: Change): void {
    if (!this.isKept || (!made && this.changes.length === 0)) return;
    const conversation = made ? made(this.current()) : this.current();
    const save_id = newUuid();
    const after: Left['after'] = [this.version, this.unanswered.at(-1)?.id ?? null];
    const wire = toWire(conversation);
    this.local.save({ after, save_id, conversation: wire });
    if (new Blob([JSON.stringify(wire)]).size > KEEPALIVE_BYTES_MAX) return;
    put(this.of, { version: this.version, save_id, conversation }, true).catch(() => undefined);
  }

  private adopt(newer: Read): void {
    this.settle(newer.save_id);
    this.version = newer.version;
    this.kept = fromWire(newer.conversation);
    this.show(this.current());
  }

  /** Drops the changes of a save that succeeded. */
  private settle(saveId: string | null): void {
    const arrived = this.unanswered.find(({ id }) => id === saveId);
    if (!arrived) return;
    this.changes = this.changes.slice(arrived.changes);
    this.unanswered = [];
  }

  private async save(): Promise<void> {
    for (let conflicts = 0; this.changes.length > 0; conflicts += 1) {
      const conversation = this.current();
      const save_id = newUuid();
      this.unanswered.push({ id: save_id, changes: this.changes.length });
      try {
        const { version } = await put(this.of, { version: this.version, save_id, conversation });
        return this.confirm({ version, save_id, conversation });
      } catch (error) {
        if (!(error instanceof ApiError && error.status === 409) || conflicts === CONFLICTS_MAX) {
          this.local.save({ after: [this.version, null], save_id, conversation: toWire(conversation) });
          throw error;
        }
        const newer = await call(getConversation, addressOf(this.of));
        // Do not recreate a deleted conversation.
        if (this.isLeft && newer.version === 0) return this.drop();
        this.adopt(newer);
      }
    }
  }

  private drop(): void {
    this.changes = [];
    this.local.clear();
  }

  private confirm({ version, save_id, conversation }: Save): void {
    this.settle(save_id);
    // An event may have reported this version earlier.
    if (version > this.version) {
      this.version = version;
      this.kept = conversation;
    }
    const { userId, model, id } = this.of;
    const cached: Read = {
      ...{ id, conversation: toWire(this.kept), version: this.version },
      ...{ save_id, is_kept: true },
    };
    queryClient.setQueryData(conversationQuery(userId, model, id).queryKey, cached);
    this.local.clear();
  }
}

type Save = { version: number; save_id: string; conversation: Conversation };

const addressOf = ({ model, id }: Of) => ({ query: { model, id } });

function put(of: Of, { conversation, ...save }: Save, keepalive = false) {
  const turns = newestTurns(conversation.turns, TURNS_LENGTH_MAX);
  const body = { ...save, conversation: toWire({ ...conversation, turns }) };
  return call(saveConversation, { ...addressOf(of), body }, { keepalive });
}

/** Local copy of an unsaved conversation; `after` is the version and the pending save that it is based on. */
type Left = {
  after: [version: number, saveId: string | null];
  save_id: string;
  conversation: WireConversation;
};

/**
 * Stores a conversation in this tab until the server has it. Also reads conversations that older versions
 * stored only in this browser.
 */
function localCopy({ userId, model, id }: Of) {
  const [left, old] = [`left.${model}.${id}`, `conversation.${model}`];
  const clear = () => {
    writeToTab(userId, left, null);
    browserStorage.set(userId, old, null);
  };
  return {
    clear,
    save: (value: Left) => writeToTab(userId, left, value),
    /** Returns the change to apply to the saved version, if any. */
    read: ({ version, save_id, is_kept }: Read): Change | null => {
      if (!is_kept) return null;
      const before = browserStorage.read(userId, old);
      if (isConversation(before)) {
        const { turns, ...rest } = fromWire(before);
        return (now) => (version === 0 ? { turns, ...rest } : { ...now, turns: [...turns, ...now.turns] });
      }
      const value = readFromTab(userId, left) as Left | null;
      if (!value || !isConversation(value.conversation)) return null;
      const [afterVersion, afterSave] = value.after;
      const isNext = version === afterVersion || (afterSave !== null && save_id === afterSave);
      if (isNext && save_id !== value.save_id) return () => fromWire(value.conversation);
      writeToTab(userId, left, null);
      return null;
    },
  };
}

function isConversation(value: unknown): value is WireConversation {
  const { turns, settings } = (value ?? {}) as Partial<WireConversation>;
  return Array.isArray(turns) && typeof settings?.options === 'object';
}

type Work = { isDue: () => boolean; work: () => Promise<void>; failed: (error: unknown) => void };

/** Runs due work in batches and retries failures. After `flush`, runs it immediately and without retries. */
function gathered({ isDue, work, failed }: Work) {
  let isRunning = false;
  let isFlushed = false;
  let endPause = () => {};
  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  return {
    async run(): Promise<void> {
      if (isRunning) return;
      isRunning = true;
      for (let retryMs = RETRY_MS; isDue(); ) {
        await pause(isFlushed ? 0 : GATHER_MS);
        try {
          await work();
          retryMs = RETRY_MS;
        } catch (error) {
          failed(error);
          if (isFlushed || isRefused(error)) break;
          await pause(retryMs);
          retryMs = Math.min(RETRY_MS_MAX, retryMs * 2);
        }
      }
      isRunning = false;
    },
    flush: (): void => {
      isFlushed = true;
      endPause();
    },
    /** Batches and retries again. */
    begin: (): void => {
      isFlushed = false;
    },
  };
}

/** An empty number field is NaN, which is null on the wire. */
function fromWire(conversation: WireConversation | null): Conversation {
  if (!conversation) return emptyConversation;
  const { options, ...settings } = conversation.settings;
  const { temperature, max_tokens } = options;
  const numbers = { temperature: temperature ?? Number.NaN, max_tokens: max_tokens ?? Number.NaN };
  return { ...conversation, settings: { ...settings, options: { ...options, ...numbers } } };
}

/** JSON turns NaN into null. Removes characters that cannot be stored: NUL and lone surrogates. */
function toWire(conversation: Conversation): WireConversation {
  const storable = (_key: string, value: unknown) =>
    typeof value === 'string' ? value.replaceAll('\0', '').toWellFormed() : value;
  return JSON.parse(JSON.stringify(conversation, storable)) as WireConversation;
}

/** Returns the newest questions, with their answers, that fit. */
export function newestTurns(turns: Turn[], lengthMax: number): Turn[] {
  let first = 0;
  const isTooLong = () => JSON.stringify(turns.slice(first)).length > lengthMax;
  // Results are meaningless without the preceding calls.
  while (first < turns.length && (isTooLong() || turns[first]?.results)) first += 2;
  return turns.slice(first);
}
