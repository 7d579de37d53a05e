import { Link } from '@tanstack/react-router';
import { Columns2, RotateCcw, X } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Checkbox } from '../../ui/checkbox.tsx';
import { Disclosure } from '../../ui/disclosure.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { Select } from '../../ui/select.tsx';
import { LoadingRegion, Skeleton } from '../../ui/skeleton.tsx';
import { useMachine } from '../machines/machine-queries.ts';
import { AgentSettings } from './agent-settings.tsx';
import { ChatTab } from './chat-tab.tsx';
import { type Opened, Playground } from './playground.tsx';
import { useServingDevice } from './serving-prices.ts';
import { createSharedQuestion, type Together } from './shared-question.ts';
import type { AnsweringModel, ChatUrlState, useAnsweringModels } from './use-answering-models.ts';

type Props = {
  answering: ReturnType<typeof useAnsweringModels>;
  /** True if two models are open or the URL asks for two. */
  isComparing: boolean;
  onChoose: (models: ChatUrlState, how?: 'replace' | 'push') => void;
};

/** A chat with one model, or the same questions sent to two models side by side. */
export function ChatCard({ answering, isComparing, onChoose }: Props) {
  const { query, chosen, isReady } = answering;
  const pending = isComparing ? (
    <LoadingRegion className="mt-8 grid gap-5 md:grid-cols-2">
      <ChatSkeleton />
      <ChatSkeleton />
    </LoadingRegion>
  ) : (
    <LoadingRegion>
      <ChatSkeleton />
    </LoadingRegion>
  );
  return (
    <QueryView query={query} failed="The models could not be loaded" pending={pending}>
      {() => {
        if (!isReady) return pending;
        return chosen ? <Chats {...{ ...answering, chosen, onChoose }} /> : <NothingAnswers />;
      }}
    </QueryView>
  );
}

type ChatsProps = Omit<Props['answering'], 'chosen'> & Pick<Props, 'onChoose'> & { chosen: AnsweringModel };

function Chats({ models, chosen, conversation, second, onChoose }: ChatsProps) {
  const without = (other?: AnsweringModel) => models.filter(({ id }) => id !== other?.id);
  // Keep the conversation in the URL, so that it reopens after a comparison.
  const kept = conversation === undefined ? {} : { conversation };
  if (second) {
    return (
      <Compared
        first={{
          model: chosen,
          choices: without(second),
          onChoose: (id) => onChoose({ chat: id, beside: second.id }),
        }}
        second={{
          model: second,
          choices: without(chosen),
          onChoose: (id) => onChoose({ chat: chosen.id, beside: id, ...kept }),
        }}
        onStop={() => onChoose({ chat: chosen.id, ...kept })}
      />
    );
  }
  const [next] = without(chosen);
  return (
    <ModelCard
      model={chosen}
      choices={models}
      onChoose={(id) => onChoose({ chat: id })}
      opened={{
        conversation,
        onOpen: (id, how) => onChoose({ chat: chosen.id, conversation: id }, how),
      }}
      action={
        next && (
          <Button onClick={() => onChoose({ chat: chosen.id, beside: next.id, ...kept })}>
            <Columns2 aria-hidden />
            Compare
          </Button>
        )
      }
    >
      <FromAgent modelName={chosen.name} />
    </ModelCard>
  );
}

type Side = Pick<ModelCardProps, 'model' | 'choices' | 'onChoose'>;

/** Two models asked the same questions in a new conversation. Changing a model starts another one. */
function Compared({ first, second, onStop }: { first: Side; second: Side; onStop: () => void }) {
  const [isTogether, setTogether] = useState(true);
  const [conversations] = useState(createSharedQuestion);
  const [field, setField] = useState<HTMLElement | null>(null);
  const [round, setRound] = useState(0);
  const pair = `${first.model.id} ${second.model.id} ${round}`;
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
        <Checkbox label="Send each question to both models" checked={isTogether} onChange={setTogether} />
        <Button variant="ghost" size="sm" className="-mr-2.5 ml-auto" onClick={() => setRound(round + 1)}>
          <RotateCcw aria-hidden />
          Start over
        </Button>
      </div>
      <div className="grid items-start gap-5 md:grid-cols-2">
        <ModelCard
          {...first}
          conversation={pair}
          together={isTogether ? { conversations, field } : undefined}
        />
        <ModelCard
          {...second}
          conversation={pair}
          together={isTogether ? { conversations } : undefined}
          action={
            <Button variant="ghost" size="icon" aria-label="Stop comparing" onClick={onStop}>
              <X aria-hidden />
            </Button>
          }
        />
      </div>
      {isTogether && (
        <div
          ref={setField}
          className="sticky bottom-[var(--toast-room,0px)] z-10 -mx-1 bg-canvas px-1 pt-1 pb-4 empty:hidden"
        />
      )}
    </div>
  );
}

function FromAgent({ modelName }: { modelName: string }) {
  return (
    <Disclosure title="Use from an agent">
      <p className="mb-3 text-[0.8125rem] text-muted">
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

type ModelCardProps = {
  model: AnsweringModel;
  choices: readonly AnsweringModel[];
  onChoose: (id: string) => void;
  /** If absent, the conversation is not saved and lives only in this page. */
  opened?: Opened;
  /** Changing this value starts a new conversation in the page. */
  conversation?: string;
  together?: Together | undefined;
  action?: ReactNode;
  children?: ReactNode;
};

function ModelCard({
  model,
  choices,
  onChoose,
  opened,
  conversation = '',
  together,
  action,
  children,
}: ModelCardProps) {
  const { id, name, pod } = model;
  const device = useServingDevice();
  const about = (
    <p className="text-muted text-xs [overflow-wrap:anywhere]">
      {pod ? (
        <>
          Your deployment · <span className="font-mono">{name}</span>
        </>
      ) : (
        'Starter model · answers without a deployment'
      )}
    </p>
  );
  const shown = { opened, about, together, folded: true };
  return (
    <section className="card flex min-w-0 flex-col gap-4 p-5" aria-label={`Chat with ${name}`}>
      <div className="flex items-start justify-between gap-2">
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
        {action}
      </div>
      {pod ? (
        <ChatTab key={`${id} ${conversation}`} pod={pod} {...shown} />
      ) : (
        <Playground key={`${id} ${conversation}`} {...{ model: id, modelName: name, device }} {...shown} />
      )}
      {children}
    </section>
  );
}

/** A new installation has no model to chat with until the starter model is prepared. */
function NothingAnswers() {
  const starter = useMachine().data?.preparations.find(({ id }) => id === 'starter-language-model');
  const isComing = starter !== undefined && starter.state !== 'failed';
  return (
    <Card flush>
      <EmptyState
        title={isComing ? 'The starter model is being prepared' : 'No model answers yet'}
        description={
          isComing ? 'You can chat here as soon as it is ready.' : 'Deploy a model to chat with it here.'
        }
      />
    </Card>
  );
}

/** Matches the height of an empty conversation. */
function ChatSkeleton() {
  return (
    <div className="card flex flex-col gap-4 p-5">
      <Skeleton className="h-9 w-72 max-w-full" />
      <Skeleton className="h-4 w-3/4" />
      <Skeleton className="h-40 w-full lg:h-72" />
      <Skeleton className="h-20 w-full" />
      <Skeleton className="h-4 w-3/4" />
      <Skeleton className="h-12 w-full" />
      <Skeleton className="h-12 w-full" />
    </div>
  );
}
