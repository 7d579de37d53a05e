import { CONVERSATIONS_BYTES_MAX, CONVERSATIONS_MAX } from '@bakehouse/contract/conversations';
import { formatBytes } from '@bakehouse/contract/labels';
import { DEFAULT_CONTEXT_TOKENS } from '@bakehouse/contract/limits';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { GraduationCap, SlidersHorizontal, SquarePen } from 'lucide-react';
import { type ComponentProps, type ReactNode, type RefObject, useRef, useState } from 'react';
import { ApiError } from '../../lib/api/api-error.ts';
import { cx } from '../../lib/cx.ts';
import { currencyChoice } from '../../lib/format/currency.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Callout } from '../../ui/callout.tsx';
import { Disclosure } from '../../ui/disclosure.tsx';
import { focusFirstInvalid } from '../../ui/focus-first-invalid.ts';
import { Money } from '../../ui/money.tsx';
import { errorMessage } from '../../ui/notify.ts';
import { QueryView } from '../../ui/query-view.tsx';
import { Sheet } from '../../ui/sheet.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { useUser } from '../accounts/session.ts';
import { AgentSettings } from './agent-settings.tsx';
import type { Turn } from './chat.ts';
import { ChatOptionFields, optionLabels, problemFields } from './chat-options.tsx';
import {
  conversationQuery,
  createConversation,
  type ReadConversation,
  useOpenedConversation,
} from './conversation-queries.ts';
import { ConversationTurns } from './conversation-turns.tsx';
import { HistoryPopover } from './past-conversations.tsx';
import { Question } from './question-field.tsx';
import { SaveChatDialog } from './save-chat-dialog.tsx';
import { type ServingDevice, useServingPrice } from './serving-prices.ts';
import type { Together } from './shared-question.ts';
import { useConversation } from './use-conversation.ts';
import { type ConversationKey, readQuestionDraft } from './use-question-draft.ts';

/** The conversation in the URL, and how to navigate to another one. */
export type Opened = {
  conversation: string | undefined;
  onOpen: (id: string, how: 'replace' | 'push') => void;
};

type Props = {
  /** The deployment's id or a shared model's name. Each has its own conversations. */
  model: string;
  modelName: string;
  /** Device that serves the model; determines the token price. */
  device: ServingDevice | undefined;
  /** Maximum tokens of prompt and answer together. */
  contextTokens?: number;
  /** BGL per hour of a deployment; absent for shared models. */
  pricePerHour?: string;
  /** Why no more questions can be asked. */
  closed?: string | undefined;
};

const states = { failed: 'Your conversation could not be loaded', pending: <Skeleton className="h-72" /> };

/** Streaming chat with a deployment: the conversation in the URL or the newest one, with its history. */
export function Playground({ opened, ...props }: Props & { opened: Opened }) {
  const { conversation, onOpen } = opened;
  const { model, closed } = props;
  const { id: userId } = useUser();
  const { id, finding, query } = useOpenedConversation(model, conversation);
  const [begun, setBegun] = useState<string>();
  const read = query.data;
  const isEmpty = !read?.conversation?.turns.length && !read?.conversation?.unanswered;
  function begin(how: 'replace' | 'push') {
    if (!read) return;
    const next = createConversation(userId, model, read);
    setBegun(next);
    onOpen(next, how);
  }
  return (
    <div className="flex flex-col gap-3">
      <div className="-mr-2.5 ml-auto flex min-h-7">
        {read?.is_kept && (
          <HistoryPopover
            {...{ model, current: id }}
            onOpen={(other) => onOpen(other.id, 'push')}
            onDeleted={(other) => other === id && begin('replace')}
          />
        )}
        {!closed && (
          <Button
            variant="ghost"
            size="sm"
            disabled={read === undefined || (read.is_kept && isEmpty)}
            onClick={() => begin('push')}
          >
            <SquarePen aria-hidden />
            New conversation
          </Button>
        )}
      </div>
      {id === undefined ? (
        <QueryView query={finding} {...states}>
          {() => states.pending}
        </QueryView>
      ) : (
        <ShownConversation
          {...{ ...props, id }}
          isBegun={id === begun}
          onAsk={() => conversation !== id && onOpen(id, 'replace')}
        />
      )}
    </div>
  );
}

type ShownProps = Props & {
  id: string;
  /** A new conversation: focus its question field. */
  isBegun?: boolean;
  onAsk?: () => void;
  /** Set if the conversation fills its container. */
  page?: {
    about: string;
    /** Questions to begin with. */
    suggestions: readonly string[];
    /** Set if two conversations share a question field; includes the role of this one. */
    together?: Together | undefined;
    /** True for the second of two conversations with the same id. */
    isSecond?: boolean;
  };
};

/** One conversation with a model. */
export function ShownConversation(props: ShownProps) {
  const { id: userId } = useUser();
  const { model, id } = props;
  return (
    <QueryView query={useQuery(conversationQuery(userId, model, id))} {...states}>
      {(read) => <OwnConversation key={`${userId} ${model} ${id}`} {...props} read={read} />}
    </QueryView>
  );
}

function OwnConversation({ read, onAsk, page, ...props }: ShownProps & { read: ReadConversation }) {
  const { model, id, modelName, device, pricePerHour, closed } = props;
  const { contextTokens = DEFAULT_CONTEXT_TOKENS } = props;
  const { id: userId } = useUser();
  const conversation = useConversation({ userId, model, id, modelName }, read);
  const { turns, unanswered, settings, setSettings, error, wait, stop, askAgain, answerCalls } = conversation;
  const answering = wait !== undefined;
  const keptAs = { userId, id: page?.isSecond ? `${id}.second` : id };
  const fields = useRef<HTMLDivElement>(null);
  const [isSettingUp, setSettingUp] = useState(false);
  const fills = page !== undefined;
  if (closed) return <ClosedConversation why={closed} {...{ keptAs, modelName, conversation, fills }} />;
  const [wrong] = problemFields(settings, contextTokens);
  const isAskable = wrong === undefined;
  const ask = (question: string) => {
    onAsk?.();
    return conversation.ask(question);
  };
  const onHeldUp = () => (fields.current ? focusFirstInvalid(fields.current) : setSettingUp(true));
  const options = (
    <Options {...{ fields, settings, contextTokens, isKept: read.is_kept }} onChange={setSettings}>
      {page && <FromAgent modelName={modelName} />}
    </Options>
  );
  return (
    <div className={page ? 'flex min-h-0 flex-1 flex-col' : 'grid gap-5 lg:grid-cols-[minmax(0,1fr)_14rem]'}>
      <div className={cx('flex min-w-0 flex-col gap-3', page && 'min-h-0 flex-1')}>
        <ConversationTurns
          {...{ modelName, turns, wait }}
          again={{ isAskable, askAgain, answerCalls }}
          page={page && { ...page, onAsk: (question) => (isAskable ? void ask(question) : onHeldUp()) }}
        />
        <div className={cx('flex flex-col gap-2', page && 'mx-auto w-full max-w-3xl px-4 pb-3')}>
          {error !== null && <NoAnswer error={error} />}
          <Question
            {...{ keptAs, answering, isAskable, unanswered, ask, stop, onHeldUp }}
            together={page?.together}
            autoFocus={props.isBegun === true}
          />
          {wrong && <HeldUp by={optionLabels[wrong]} />}
          <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
            <TokenPrices device={device} pricePerHour={pricePerHour} />
            <div className="-mr-2.5 ml-auto flex flex-wrap">
              {!answering && turns.length > 0 && <SaveChat {...{ turns, settings }} />}
              {page && (
                <Button variant="ghost" size="sm" onClick={() => setSettingUp(true)}>
                  <SlidersHorizontal aria-hidden />
                  Settings
                </Button>
              )}
            </div>
          </div>
        </div>
      </div>
      {page ? (
        <Sheet
          open={isSettingUp}
          onClose={() => setSettingUp(false)}
          title="Settings"
          description={modelName}
        >
          {options}
        </Sheet>
      ) : (
        options
      )}
    </div>
  );
}

/** Saves a conversation to a dataset. */
function SaveChat(props: Pick<Conversation, 'turns' | 'settings'>) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button variant="ghost" size="sm" onClick={() => setOpen(true)}>
        <GraduationCap aria-hidden />
        Save as training data
      </Button>
      {open && <SaveChatDialog {...props} onClose={() => setOpen(false)} />}
    </>
  );
}

type OptionsProps = ComponentProps<typeof ChatOptionFields> & {
  fields: RefObject<HTMLDivElement | null>;
  isKept: boolean;
  children: ReactNode;
};

function Options({ fields, isKept, children, ...options }: OptionsProps) {
  return (
    <div ref={fields} className="flex flex-col gap-4">
      <ChatOptionFields {...options} />
      <p className="text-muted text-xs">
        {isKept
          ? `Your newest ${CONVERSATIONS_MAX} conversations are kept in your account, up to ${formatBytes(CONVERSATIONS_BYTES_MAX)}.`
          : 'This conversation ends when you leave it.'}
      </p>
      {children}
    </div>
  );
}

function FromAgent({ modelName }: { modelName: string }) {
  return (
    <Disclosure title="Use from an agent">
      <p className="mb-3 text-compact text-muted">
        Put your key from the{' '}
        <Link to="/api-key" className="text-accent-text underline underline-offset-2">
          API-Key page
        </Link>{' '}
        into <code>BAKEHOUSE_API_KEY</code> first.
      </p>
      <AgentSettings modelName={modelName} />
    </Disclosure>
  );
}

/** Explains why there is no answer. If credit ran out, links to buying more, in the current currency. */
function NoAnswer({ error }: { error: unknown }) {
  currencyChoice.use();
  const needsCredit = error instanceof ApiError && error.code === 'insufficient_funds';
  return (
    <Callout
      tone="bad"
      title="The model did not answer"
      action={
        needsCredit && (
          <ButtonLink to="/buy-bagels" size="sm" className="self-center">
            Get credits
          </ButtonLink>
        )
      }
    >
      {errorMessage(error)}
    </Callout>
  );
}

type Conversation = ReturnType<typeof useConversation>;

type ClosedProps = {
  keptAs: ConversationKey;
  why: string;
  modelName: string;
  fills: boolean;
  conversation: Conversation;
};

/** A read-only conversation, including a question that was never answered. */
function ClosedConversation({ keptAs, why, modelName, fills, conversation }: ClosedProps) {
  const { turns, unanswered, wait } = conversation;
  const draft = readQuestionDraft(keptAs)?.trim();
  const said: Turn[] = unanswered ? [...turns, { role: 'user', content: unanswered }] : turns;
  return (
    <div className={cx('flex flex-col gap-3', fills && 'min-h-0 flex-1 pb-6')}>
      {said.length > 0 && (
        <ConversationTurns
          {...{ modelName, turns: said, wait }}
          page={fills ? { about: '', suggestions: [] } : undefined}
        />
      )}
      {draft && draft !== unanswered && (
        <p dir="auto" className="whitespace-pre-wrap text-muted [overflow-wrap:anywhere]">
          Not sent: {draft}
        </p>
      )}
      <p className={cx('text-center text-muted', said.length === 0 && 'py-8')}>{why}</p>
    </div>
  );
}

/** Names the invalid setting, which may be off screen or in a collapsed section. */
function HeldUp({ by }: { by: string }) {
  return (
    <p role="status" className="text-compact text-bad">
      Fix “{by}” in the settings before you send a message.
    </p>
  );
}

/** Token prices, and a note about the hourly price. */
function TokenPrices({ device, pricePerHour }: Pick<Props, 'device' | 'pricePerHour'>) {
  const read = useServingPrice('prompt_tokens', device);
  const written = useServingPrice('completion_tokens', device);
  if (!read || !written) return null;
  return (
    <p className="text-muted text-xs">
      <Money unrounded bgl={read} /> per million input tokens, <Money unrounded bgl={written} /> per million
      output tokens
      {pricePerHour && (
        <>
          , plus <Money unrounded bgl={pricePerHour} /> per hour while the model is awake
        </>
      )}
      .
    </p>
  );
}
