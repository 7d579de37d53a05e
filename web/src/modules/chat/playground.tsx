import { CONVERSATIONS_BYTES_MAX, CONVERSATIONS_MAX } from '@bakehouse/contract/conversations';
import { formatBytes } from '@bakehouse/contract/labels';
import { DEFAULT_CONTEXT_TOKENS } from '@bakehouse/contract/limits';
import { GraduationCap, SquarePen } from 'lucide-react';
import { type ReactNode, type RefObject, useRef, useState } from 'react';
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
import { Skeleton } from '../../ui/skeleton.tsx';
import { useUser } from '../accounts/session.ts';
import type { Turn } from './chat.ts';
import { ChatOptionFields, optionLabels, problemFields } from './chat-options.tsx';
import { createConversation, type ReadConversation, useOpenedConversation } from './conversation-queries.ts';
import { ConversationTurns } from './conversation-turns.tsx';
import { PastConversations } from './past-conversations.tsx';
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
  /** If absent, the conversation is not saved and ends with the page. */
  opened?: Opened | undefined;
  /** Content above the conversation. */
  about?: ReactNode;
  /** Device that serves the model; determines the token price. */
  device: ServingDevice | undefined;
  /** Maximum tokens of prompt and answer together. */
  contextTokens?: number;
  /** BGL per hour of a deployment; absent for shared models. */
  pricePerHour?: string;
  /** Why no more questions can be asked. */
  closed?: string | undefined;
  /** Collapses the settings below the conversation instead of showing them next to it. */
  folded?: boolean | undefined;
  /** Set if two conversations share a question field; includes the role of this one. */
  together?: Together | undefined;
};

/** Streaming chat with one model. */
export function Playground({ opened, ...props }: Props) {
  if (opened) return <KeptPlayground opened={opened} {...props} />;
  return (
    <div className="flex flex-col gap-4">
      {props.about}
      <OwnPlayground id={`page.${props.model}`} read={ofPage} {...props} />
    </div>
  );
}

const ofPage: ReadConversation = {
  ...{ id: null, conversation: null, version: 0, save_id: null },
  is_kept: false,
};

type KeptProps = Omit<Props, 'opened'> & { opened: Opened };

/** The conversation in the URL or the newest one, with its history and a button for a new one. */
function KeptPlayground({ opened: { conversation, onOpen }, ...props }: KeptProps) {
  const { model, about, closed } = props;
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
  const shown = { failed: 'Your conversation could not be loaded', pending: <Skeleton className="h-72" /> };
  return (
    <div className="flex flex-col gap-3">
      <div className="flex min-h-7 flex-wrap items-center justify-between gap-x-4 gap-y-1">
        {about}
        <div className="-mr-2.5 ml-auto flex">
          {read?.is_kept && (
            <PastConversations
              {...{ userId, model, current: id }}
              onOpen={(other) => onOpen(other, 'push')}
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
      </div>
      {id === undefined ? (
        <QueryView query={finding} {...shown}>
          {() => shown.pending}
        </QueryView>
      ) : (
        <QueryView query={query} {...shown}>
          {(known) => (
            <OwnPlayground
              key={`${userId} ${id}`}
              {...{ ...props, id, read: known }}
              isBegun={id === begun}
              onAsk={() => conversation !== id && onOpen(id, 'replace')}
            />
          )}
        </QueryView>
      )}
    </div>
  );
}

type OwnProps = Omit<Props, 'opened' | 'about'> & {
  id: string;
  read: ReadConversation;
  /** A new conversation: focus its question field. */
  isBegun?: boolean;
  onAsk?: () => void;
};

function OwnPlayground({
  model,
  id,
  modelName,
  device,
  contextTokens = DEFAULT_CONTEXT_TOKENS,
  pricePerHour,
  closed,
  folded = false,
  together,
  read,
  isBegun = false,
  onAsk,
}: OwnProps) {
  const { id: userId } = useUser();
  const conversation = useConversation({ userId, model, id, modelName }, read);
  const { turns, unanswered, settings, setSettings, error, answering, stop } = conversation;
  const keptAs = { userId, id };
  const fields = useRef<HTMLDivElement>(null);
  if (closed) return <ClosedConversation why={closed} {...{ keptAs, modelName, conversation }} />;
  const [wrong] = problemFields(settings, contextTokens);
  const isAskable = wrong === undefined;
  const { askAgain, answerCalls } = conversation;
  const ask = (question: string) => {
    onAsk?.();
    return conversation.ask(question);
  };
  return (
    <div className={cx('grid gap-5', !folded && 'lg:grid-cols-[minmax(0,1fr)_14rem]')}>
      <div className="flex min-w-0 flex-col gap-3">
        <ConversationTurns
          {...{ modelName, turns, answering }}
          again={{ isAskable, askAgain, answerCalls }}
        />
        {error !== null && <NoAnswer error={error} />}
        <Question
          {...{ keptAs, answering, isAskable, unanswered, ask, stop, together }}
          autoFocus={isBegun}
          onHeldUp={() => fields.current && focusFirstInvalid(fields.current)}
        />
        {wrong && <HeldUp by={optionLabels[wrong]} />}
        <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-1">
          <TokenPrices device={device} pricePerHour={pricePerHour} />
          {!answering && turns.length > 0 && <SaveChat {...{ turns, settings }} />}
        </div>
      </div>
      <Settings {...{ fields, folded }} hasProblem={wrong !== undefined} isKept={read.is_kept}>
        <ChatOptionFields {...{ settings, contextTokens }} onChange={setSettings} />
      </Settings>
    </div>
  );
}

/** Saves a conversation to a dataset. */
function SaveChat(props: Pick<Conversation, 'turns' | 'settings'>) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button variant="ghost" size="sm" className="-mr-2.5 ml-auto" onClick={() => setOpen(true)}>
        <GraduationCap aria-hidden />
        Save as training data
      </Button>
      {open && <SaveChatDialog {...props} onClose={() => setOpen(false)} />}
    </>
  );
}

type SettingsProps = {
  fields: RefObject<HTMLDivElement | null>;
  folded: boolean;
  hasProblem: boolean;
  isKept: boolean;
  children: ReactNode;
};

function Settings({ fields, folded, hasProblem, isKept, children }: SettingsProps) {
  const all = (
    <div ref={fields} className="flex flex-col gap-4">
      {children}
      <p className="text-muted text-xs">
        {isKept
          ? `Your newest ${CONVERSATIONS_MAX} conversations are kept in your account, up to ${formatBytes(CONVERSATIONS_BYTES_MAX)}.`
          : 'This conversation ends when you leave it.'}
      </p>
    </div>
  );
  if (!folded) return all;
  return (
    <Disclosure title="Settings" hasProblem={hasProblem}>
      {all}
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

type ClosedProps = { keptAs: ConversationKey; why: string; modelName: string; conversation: Conversation };

/** A read-only conversation, including a question that was never answered or sent. */
function ClosedConversation({ keptAs, why, modelName, conversation }: ClosedProps) {
  const { turns, unanswered, answering } = conversation;
  const question = readQuestionDraft(keptAs) || unanswered;
  const said: Turn[] = question ? [...turns, { role: 'user', content: question }] : turns;
  return (
    <div className="flex flex-col gap-3">
      {said.length > 0 && <ConversationTurns {...{ modelName, turns: said, answering }} />}
      <p className={cx('text-center text-muted', said.length === 0 && 'py-8')}>{why}</p>
    </div>
  );
}

/** Names the invalid setting, which may be off screen or in a collapsed section. */
function HeldUp({ by }: { by: string }) {
  return (
    <p role="status" className="text-[0.8125rem] text-bad">
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
