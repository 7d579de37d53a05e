import { Columns2, History, SquarePen, X } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useWindowWidth } from '../../lib/device/use-window-width.ts';
import { usePageTitle } from '../../lib/page-title.ts';
import { useUrlSearch, uuid } from '../../lib/url-search.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Checkbox } from '../../ui/checkbox.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { Select } from '../../ui/select.tsx';
import { Sheet } from '../../ui/sheet.tsx';
import { LoadingRegion, Skeleton } from '../../ui/skeleton.tsx';
import { useUser } from '../accounts/session.ts';
import { useMachine } from '../machines/machine-queries.ts';
import { chatWith } from './chat-tab.tsx';
import { nextOfTab, renewNextOfTab } from './conversation-queries.ts';
import { EndedChat } from './ended-chat.tsx';
import { AllConversations } from './past-conversations.tsx';
import { ShownConversation } from './playground.tsx';
import type { ChatSearch } from './routes.ts';
import { useServingDevice } from './serving-prices.ts';
import { createSharedQuestion, type Together } from './shared-question.ts';
import { type AnsweringModel, useAnsweringModels } from './use-answering-models.ts';

/** Questions that the starter model answers well. */
const SUGGESTIONS = ['What is bread made of?', 'Why is the sky blue?', 'What is the capital of France?'];

/** The page's conversation, and the next one, which the user has not begun. */
function useChat() {
  const { id: userId } = useUser();
  const [shown, change] = useUrlSearch<ChatSearch>();
  const [next, setNext] = useState(() => nextOfTab(userId));
  const [isBegun, setBegun] = useState(false);
  // The user has asked in it.
  if (shown.conversation === next) setNext(renewNextOfTab(userId));
  const nothing = { model: undefined, conversation: undefined, compare: undefined };
  return {
    shown,
    id: shown.conversation ?? next,
    isBegun,
    /** Opens a conversation, or the next one. */
    open: (search: ChatSearch) => {
      setBegun(search.conversation === undefined);
      change({ ...nothing, ...search }, { replace: false });
    },
    /** Puts the conversation into the URL. */
    keep: (search: ChatSearch) => shown.conversation === undefined && change(search),
  };
}

/** A conversation with one model, or with two that are compared, and the earlier conversations next to it. */
export function ChatPage() {
  usePageTitle('Chat');
  const chat = useChat();
  const { shown, id } = chat;
  const answering = useAnsweringModels(shown);
  const { models, ended, areKnown } = answering;
  const hasRoom = useWindowWidth('lg');
  const [isHistoryOpen, setHistoryOpen] = useState(false);
  const history = <Conversations {...{ models, areKnown, chat }} onChosen={() => setHistoryOpen(false)} />;
  const historyButton = !hasRoom && (
    <Button variant="ghost" size="icon" aria-label="Conversations" onClick={() => setHistoryOpen(true)}>
      <History aria-hidden />
    </Button>
  );
  return (
    <div className="full-page flex min-h-0 w-full flex-1">
      <h1 className="sr-only">Chat</h1>
      {hasRoom ? (
        <div className="flex w-64 shrink-0 flex-col border-line border-r">{history}</div>
      ) : (
        <Sheet
          open={isHistoryOpen}
          onClose={() => setHistoryOpen(false)}
          title="Conversations"
          side="left"
          size="sm"
        >
          <div className="-m-5 flex flex-col">{history}</div>
        </Sheet>
      )}
      <div className="flex min-h-0 min-w-0 flex-1 flex-col">
        <QueryView query={answering.query} failed="The models could not be loaded" pending={<Pending />}>
          {() => {
            if (!answering.isReady) return <Pending />;
            if (ended && !models.some((one) => one.id === shown.model || one.id === shown.compare))
              return <EndedChat {...{ id, model: ended }} leading={historyButton} />;
            if (!answering.chosen) return <NothingAnswers leading={historyButton} />;
            return <Chats {...{ ...answering, chat, chosen: answering.chosen, historyButton }} />;
          }}
        </QueryView>
      </div>
    </div>
  );
}

type ConversationsProps = {
  models: readonly AnsweringModel[];
  /** False while the user's deployments load. */
  areKnown: boolean;
  chat: ReturnType<typeof useChat>;
  onChosen: () => void;
};

/** The earlier conversations, and a button for a new one. */
function Conversations({ models, areKnown, chat: { shown, id, open }, onChosen }: ConversationsProps) {
  // Models that no longer answer come last.
  const inOrder = (some: string[]) => {
    const answering = models.map((one) => one.id).filter((one) => some.includes(one));
    return [...answering, ...some.filter((one) => !answering.includes(one))];
  };
  const titleOf = (of: string) =>
    models.find((one) => one.id === of)?.title ??
    (uuid(of) ? (areKnown ? 'Ended deployment' : 'Deployment') : of);
  const begin = () => {
    onChosen();
    open({ model: shown.model, compare: shown.compare });
  };
  return (
    <>
      <div className="p-3">
        <Button className="w-full" onClick={begin}>
          <SquarePen aria-hidden />
          New conversation
        </Button>
      </div>
      <nav aria-label="Conversations" className="min-h-0 flex-1 overflow-y-auto px-1.5 pb-3">
        <AllConversations
          current={shown.conversation}
          titlesOf={(some) => inOrder(some).map(titleOf).join(' and ')}
          onOpen={(past) => {
            const [first, second] = inOrder(past.models);
            onChosen();
            open({ conversation: past.id, model: first, compare: second });
          }}
          onDeleted={(deleted) => deleted === id && begin()}
        />
      </nav>
    </>
  );
}

type ChatsProps = Pick<ReturnType<typeof useAnsweringModels>, 'models' | 'second' | 'ended'> & {
  chat: ReturnType<typeof useChat>;
  chosen: AnsweringModel;
  historyButton: ReactNode;
};

function Chats({ models, chosen, second, ended, chat, historyButton }: ChatsProps) {
  const { id, isBegun, open, keep } = chat;
  const without = (other?: AnsweringModel) => models.filter((one) => one.id !== other?.id);
  const shared = {
    id,
    isBegun,
    onAsk: () => keep({ conversation: id, model: chosen.id, compare: second?.id }),
  };
  const compared = second?.id ?? ended;
  if (compared !== undefined) {
    return (
      <Compared
        key={`${chosen.id} ${compared} ${id}`}
        first={{
          ...{ ...shared, model: chosen, choices: without(second), leading: historyButton },
          onChoose: (other) => open({ model: other, compare: second?.id }),
        }}
        second={
          second
            ? {
                ...{ ...shared, model: second, choices: without(chosen) },
                onChoose: (other) => open({ model: chosen.id, compare: other }),
              }
            : compared
        }
        onStop={() => open({ model: chosen.id })}
      />
    );
  }
  const [next] = without(chosen);
  return (
    <Pane
      {...shared}
      model={chosen}
      choices={models}
      onChoose={(other) => open({ model: other })}
      leading={historyButton}
      action={
        next && (
          <Button onClick={() => open({ model: chosen.id, compare: next.id })}>
            <Columns2 aria-hidden />
            Compare
          </Button>
        )
      }
    />
  );
}

type ComparedProps = {
  first: PaneProps;
  /** The id of a model that no longer answers, whose answers can only be read. */
  second: PaneProps | string;
  onStop: () => void;
};

/** Two models that are asked the same questions. */
function Compared({ first, second, onStop }: ComparedProps) {
  const [isTogether, setTogether] = useState(true);
  const [conversations] = useState(createSharedQuestion);
  const [field, setField] = useState<HTMLElement | null>(null);
  const hasEnded = typeof second === 'string';
  const action = (
    <Button variant="ghost" size="icon" aria-label="Stop comparing" onClick={onStop}>
      <X aria-hidden />
    </Button>
  );
  return (
    <>
      <div className="grid min-h-0 flex-1 grid-rows-2 divide-line max-md:divide-y md:grid-cols-2 md:grid-rows-1 md:divide-x">
        <Pane {...first} together={isTogether && !hasEnded ? { conversations, field } : undefined} />
        {hasEnded ? (
          <EndedChat id={first.id} model={second} action={action} />
        ) : (
          <Pane
            {...second}
            {...{ action, isSecond: true }}
            together={isTogether ? { conversations } : undefined}
          />
        )}
      </div>
      <div hidden={hasEnded} className="mx-auto flex w-full max-w-3xl flex-col gap-2 px-4 pt-2 pb-3">
        <div ref={setField} className="empty:hidden" />
        <Checkbox label="Send each question to both models" checked={isTogether} onChange={setTogether} />
      </div>
    </>
  );
}

type PaneProps = {
  id: string;
  isBegun: boolean;
  onAsk: () => void;
  model: AnsweringModel;
  choices: readonly AnsweringModel[];
  onChoose: (id: string) => void;
  leading?: ReactNode;
  action?: ReactNode;
  together?: Together | undefined;
  isSecond?: boolean;
};

/** A conversation below the choice of its model. */
function Pane({ model, choices, onChoose, leading, action, together, isSecond, ...shown }: PaneProps) {
  const { id, name, pod } = model;
  const device = useServingDevice();
  const about = pod ? `Your deployment · ${pod.title}` : 'Starter model · answers without a deployment';
  return (
    <section className="flex min-h-0 min-w-0 flex-1 flex-col" aria-label={`Chat with ${name}`}>
      <div className="flex items-center gap-2 px-4 py-2">
        {leading}
        <div className="min-w-0 max-w-72 flex-1">
          <Select
            aria-label="Model"
            value={id}
            onChange={onChoose}
            options={choices.map((choice) => ({
              value: choice.id,
              label: choice.title,
              description: choice.pod ? choice.name : 'Starter model',
            }))}
          />
        </div>
        <div className="ml-auto">{action}</div>
      </div>
      <ShownConversation
        {...(pod ? chatWith(pod) : { model: id, modelName: name, device })}
        {...shown}
        page={{ about, suggestions: pod || together ? [] : SUGGESTIONS, together, isSecond }}
      />
    </section>
  );
}

/** A new installation has no model to chat with until the starter model is prepared. */
function NothingAnswers({ leading }: { leading: ReactNode }) {
  const starter = useMachine().data?.preparations.find(({ id }) => id === 'starter-language-model');
  const isComing = starter !== undefined && starter.state !== 'failed';
  return (
    <div className="flex flex-1 flex-col">
      <div className="px-4 py-2">{leading}</div>
      <div className="m-auto">
        <EmptyState
          title={isComing ? 'The starter model is being prepared' : 'No model answers yet'}
          description={
            isComing ? 'You can chat here as soon as it is ready.' : 'Deploy a model to chat with it here.'
          }
          action={!isComing && <ButtonLink to="/my-deployments">Deploy a model</ButtonLink>}
        />
      </div>
    </div>
  );
}

function Pending() {
  return (
    <LoadingRegion className="flex min-h-0 flex-1 flex-col gap-4 px-4 py-2">
      <Skeleton className="h-9 w-72 max-w-full" />
      <Skeleton className="mx-auto w-full max-w-3xl flex-1" />
      <Skeleton className="mx-auto mb-8 h-14 w-full max-w-3xl" />
    </LoadingRegion>
  );
}
