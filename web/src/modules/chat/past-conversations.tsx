import { type ConversationRow, deleteConversation } from '@bakehouse/contract/conversations';
import { Popover } from '@base-ui/react/popover';
import { useQuery } from '@tanstack/react-query';
import { History, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { call } from '../../lib/api/api-client.ts';
import { cx } from '../../lib/cx.ts';
import { formatDateTime } from '../../lib/format/format-time.ts';
import { refetchQueries } from '../../lib/mutation/refetch-queries.ts';
import { useMutation } from '../../lib/mutation/use-mutation.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { ListSkeleton } from '../../ui/list-skeleton.tsx';
import { popupClass, popupLayer } from '../../ui/popup-class.ts';
import { QueryView } from '../../ui/query-view.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { useUser } from '../accounts/session.ts';
import { conversationsQuery } from './conversation-queries.ts';
import { deleteQuestionDraft } from './use-question-draft.ts';

/** A conversation with one model, or with two models that are compared. */
export type PastConversation = Pick<ConversationRow, 'id' | 'title' | 'saved_at'> & { models: string[] };

type Props = {
  /** The open conversation. */
  current: string | undefined;
  onOpen: (conversation: PastConversation) => void;
  onDeleted: (id: string) => void;
};

/** A popover that lists the conversations with a model, to open or delete them. */
export function HistoryPopover({ model, current, onOpen, onDeleted }: Props & { model: string }) {
  const [open, setOpen] = useState(false);
  const deletion = useDeletion(onDeleted);
  return (
    <>
      {/* Closed during the confirmation, because the list would cover the dialog. */}
      <Popover.Root open={open && !deletion.isAsking} onOpenChange={setOpen}>
        <Popover.Trigger
          render={
            <Button variant="ghost" size="sm">
              <History aria-hidden />
              History
            </Button>
          }
        />
        <Popover.Portal>
          <Popover.Positioner className={popupLayer} sideOffset={6} align="end" collisionPadding={8}>
            <Popover.Popup className={cx(popupClass, 'w-88 max-w-[calc(100vw-1rem)] p-0!')}>
              <Popover.Title className="px-4 pt-3 pb-2 font-medium text-compact">Conversations</Popover.Title>
              <div className="max-h-[min(24rem,60dvh)] overflow-y-auto p-1 pt-0">
                <List
                  {...{ model, current }}
                  onOpen={(conversation) => {
                    setOpen(false);
                    onOpen(conversation);
                  }}
                  onDelete={deletion.ask}
                />
              </div>
            </Popover.Popup>
          </Popover.Positioner>
        </Popover.Portal>
      </Popover.Root>
      {deletion.dialog}
    </>
  );
}

type AllProps = Props & {
  /** Returns the titles of models. */
  titlesOf: (models: string[]) => string;
};

/** A column that lists the conversations with all models. */
export function AllConversations({ onDeleted, ...props }: AllProps) {
  const deletion = useDeletion(onDeleted);
  return (
    <>
      <List {...props} onDelete={deletion.ask} />
      {deletion.dialog}
    </>
  );
}

/** Deletes a conversation after a confirmation. */
function useDeletion(onDeleted: Props['onDeleted']) {
  const { id: userId } = useUser();
  const [asked, setAsked] = useState<PastConversation | null>(null);
  const deletion = useMutation({
    mutationFn: ({ id, models }: PastConversation) =>
      Promise.all(models.map((model) => call(deleteConversation, { query: { model, id } }))),
    onSuccess: (_none, { id }) => {
      deleteQuestionDraft({ userId, id });
      onDeleted(id);
      refetchQueries(['conversation', 'list']);
    },
    onSettled: () => setAsked(null),
  });
  const dialog = (
    <ConfirmDialog
      open={asked !== null}
      onOpenChange={(next) => !next && setAsked(null)}
      title="Delete this conversation?"
      description={`“${asked?.title}” will be permanently deleted.`}
      action="Delete"
      pending={deletion.isPending}
      onConfirm={() => asked && deletion.mutate(asked)}
    />
  );
  return { isAsking: asked !== null, ask: setAsked, dialog };
}

type ListProps = Pick<Props, 'current' | 'onOpen'> & {
  model?: string;
  titlesOf?: AllProps['titlesOf'];
  onDelete: (conversation: PastConversation) => void;
};

function List({ model, titlesOf, current, onOpen, onDelete }: ListProps) {
  const query = useQuery(conversationsQuery(useUser().id, model));
  return (
    <QueryView
      query={query}
      failed="Your conversations could not be loaded"
      pending={<ListSkeleton rows={3} rowHeight={52} />}
      isEmpty={({ conversations }) => conversations.length === 0}
      empty={<p className="px-6 py-10 text-center text-muted">No conversations yet.</p>}
      compact
      flush
    >
      {({ conversations }) => (
        <ul>
          {withModels(conversations).map((row) => (
            <Row
              key={row.id}
              row={row}
              about={titlesOf?.(row.models)}
              isCurrent={row.id === current}
              onOpen={() => onOpen(row)}
              onDelete={() => onDelete(row)}
            />
          ))}
        </ul>
      )}
    </QueryView>
  );
}

/** Joins the two conversations of a comparison, which have the same id. */
function withModels(rows: ConversationRow[]): PastConversation[] {
  const joined = new Map<string, PastConversation>();
  for (const { model, ...row } of rows) {
    const known = joined.get(row.id);
    if (known) known.models.push(model);
    else joined.set(row.id, { ...row, models: [model] });
  }
  return [...joined.values()];
}

type RowProps = {
  row: PastConversation;
  about: string | undefined;
  isCurrent: boolean;
  onOpen: () => void;
  onDelete: () => void;
};

function Row({ row: { title, saved_at }, about, isCurrent, onOpen, onDelete }: RowProps) {
  return (
    <li className={cx('flex items-center gap-1 rounded-lg pr-1.5 hover:bg-hover', isCurrent && 'bg-subtle')}>
      <button
        type="button"
        aria-current={isCurrent || undefined}
        onClick={onOpen}
        className="min-w-0 flex-1 rounded-lg px-3 py-2 text-left"
      >
        <span dir="auto" className="block truncate text-compact leading-5">
          {title}
        </span>
        <span className="block truncate text-muted text-xs leading-4">
          <time dateTime={saved_at} title={formatDateTime(new Date(saved_at))}>
            <RelativeTime at={saved_at} />
          </time>
          {about && ` · ${about}`}
        </span>
      </button>
      <Button variant="ghost" size="icon-sm" aria-label={`Delete “${title}”`} onClick={onDelete}>
        <Trash2 aria-hidden />
      </Button>
    </li>
  );
}
