import type { getConversation } from '@bakehouse/contract/conversations';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { DEFAULT_CONTEXT_TOKENS } from '@bakehouse/contract/limits';
import { useQuery } from '@tanstack/react-query';
import { RotateCcw, Trash2 } from 'lucide-react';
import { type ReactNode, type RefObject, useRef, useState } from 'react';
import { ApiError } from '../../../lib/api/api-error.ts';
import { cx } from '../../../lib/cx.ts';
import { currencyChoice } from '../../../lib/format/currency.ts';
import { Button, ButtonLink } from '../../../ui/button.tsx';
import { Callout } from '../../../ui/callout.tsx';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { Disclosure } from '../../../ui/disclosure.tsx';
import { focusFirstInvalid } from '../../../ui/focus-first-invalid.ts';
import { Money } from '../../../ui/money.tsx';
import { errorMessage } from '../../../ui/notify.ts';
import { QueryView } from '../../../ui/query-view.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { useUser } from '../../accounts/session.ts';
import { type ServingDevice, useServingPrice } from '../serving-prices.ts';
import type { Together } from './asked-together.ts';
import type { Turn } from './chat.ts';
import { ChatOptionFields, optionLabels, problemFields } from './chat-options.tsx';
import { ConversationTurns } from './conversation-turns.tsx';
import { conversationQuery } from './kept-conversation.ts';
import { Question } from './question-field.tsx';
import { useConversation } from './use-conversation.ts';
import { type ConversationKey, forgetQuestion, readQuestion } from './use-question.ts';

type Props = {
  /** The deployment's id, or a shared model's name: each has a conversation of its own. */
  conversationId: string;
  modelName: string;
  /** Where it is served: sets the price of its tokens. */
  device: ServingDevice | undefined;
  /** How many tokens it reads and writes at most. */
  contextTokens?: number;
  /** BGL for an hour of a deployment; a model that everybody shares has none. */
  pricePerHour?: string;
  /** Why nothing can be asked any more. */
  closed?: string | undefined;
  /** The settings are closed under the conversation, where they otherwise stand beside it. */
  folded?: boolean | undefined;
  /** The conversations that are asked in one field, and which place this one has among them. */
  together?: Together | undefined;
};

/** Chat with one model as it streams. */
export function Playground(props: Props) {
  const { id: userId } = useUser();
  const query = useQuery(conversationQuery(userId, props.conversationId));
  return (
    <QueryView
      query={query}
      failed="Your conversation could not be loaded"
      pending={<Skeleton className="h-72" />}
    >
      {(read) => (
        <OwnPlayground key={`${userId} ${props.conversationId}`} userId={userId} read={read} {...props} />
      )}
    </QueryView>
  );
}

function OwnPlayground({
  userId,
  conversationId,
  modelName,
  device,
  contextTokens = DEFAULT_CONTEXT_TOKENS,
  pricePerHour,
  closed,
  folded = false,
  together,
  read,
}: Props & { userId: string; read: ResponseOf<typeof getConversation> }) {
  const conversation = useConversation({ userId, id: conversationId, modelName }, read);
  const { turns, unanswered, settings, setSettings, error, answering, ask, stop, clear } = conversation;
  const keptAs = { userId, id: conversationId };
  const fields = useRef<HTMLDivElement>(null);
  if (closed) return <ClosedConversation why={closed} {...{ keptAs, modelName, conversation }} />;
  const [wrong] = problemFields(settings, contextTokens);
  const isAskable = wrong === undefined;
  const { askAgain, answerCalls } = conversation;
  const startAnew = (
    <DeleteButton disabled={turns.length === 0 || answering} onDelete={clear}>
      <RotateCcw aria-hidden />
      New conversation
    </DeleteButton>
  );
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
          onHeldUp={() => fields.current && focusFirstInvalid(fields.current)}
        />
        {wrong && <HeldUp by={optionLabels[wrong]} />}
        <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
          <TokenPrices device={device} pricePerHour={pricePerHour} />
          {folded && turns.length > 0 && <div className="ml-auto">{startAnew}</div>}
        </div>
      </div>
      <Settings {...{ fields, folded }} hasProblem={wrong !== undefined} isKept={read.is_kept}>
        <ChatOptionFields {...{ settings, contextTokens }} onChange={setSettings} />
        {!folded && startAnew}
      </Settings>
    </div>
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
          ? 'Your conversation with each model is kept in your account.'
          : 'This conversation ends when you leave the page.'}
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

/** Why no answer came; too little credit leads to more of it, in the currency that is chosen by now. */
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

type DeleteProps = { disabled: boolean; onDelete: () => void; children: ReactNode };

/** Asks first: a conversation has cost something. */
function DeleteButton({ disabled, onDelete, children }: DeleteProps) {
  const [asking, setAsking] = useState(false);
  return (
    <>
      <Button variant="ghost" disabled={disabled} onClick={() => setAsking(true)}>
        {children}
      </Button>
      <ConfirmDialog
        open={asking}
        onOpenChange={setAsking}
        title="Delete this conversation?"
        description="It will be permanently deleted."
        action="Delete"
        onConfirm={() => {
          setAsking(false);
          onDelete();
        }}
      />
    </>
  );
}

type ClosedProps = { keptAs: ConversationKey; why: string; modelName: string; conversation: Conversation };

/** What was said, also the question that was never answered or asked. */
function ClosedConversation({ keptAs, why, modelName, conversation }: ClosedProps) {
  const { turns, unanswered, answering, clear } = conversation;
  const question = readQuestion(keptAs) || unanswered;
  const said: Turn[] = question ? [...turns, { role: 'user', content: question }] : turns;
  return (
    <div className="flex flex-col gap-3">
      {said.length > 0 && <ConversationTurns {...{ modelName, turns: said, answering }} />}
      <p className={cx('text-center text-muted', said.length === 0 && 'py-8')}>{why}</p>
      {said.length > 0 && (
        <div className="self-center">
          <DeleteButton
            disabled={answering}
            onDelete={() => {
              forgetQuestion(keptAs);
              clear();
            }}
          >
            <Trash2 aria-hidden />
            Delete this conversation
          </DeleteButton>
        </div>
      )}
    </div>
  );
}

/** Which setting keeps everything from being asked: on a narrow screen it is further down, and it may be in a part that is closed. */
function HeldUp({ by }: { by: string }) {
  return (
    <p role="status" className="text-[0.8125rem] text-bad">
      Correct “{by}” in the settings before you send anything.
    </p>
  );
}

/** What asking costs, and what it is paid beside. */
function TokenPrices({ device, pricePerHour }: Pick<Props, 'device' | 'pricePerHour'>) {
  const read = useServingPrice('prompt_tokens', device);
  const written = useServingPrice('completion_tokens', device);
  if (!read || !written) return null;
  return (
    <p className="min-w-48 flex-1 text-muted text-xs">
      <Money unrounded bgl={read} /> per million input tokens, <Money unrounded bgl={written} /> per million
      output tokens
      {pricePerHour && (
        <>
          , on top of <Money unrounded bgl={pricePerHour} /> for each hour that the model is awake
        </>
      )}
      .
    </p>
  );
}
