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
import { conversationsQuery } from './conversation-queries.ts';
import { deleteQuestionDraft } from './use-question-draft.ts';

type Props = {
  userId: string;
  model: string;
  /** The open conversation. */
  current: string | undefined;
  onOpen: (id: string) => void;
  onDeleted: (id: string) => void;
};

/** A popover that lists the conversations with a model, to open or delete them. */
export function PastConversations({ userId, model, current, onOpen, onDeleted }: Props) {
  const [open, setOpen] = useState(false);
  const [asked, setAsked] = useState<ConversationRow | null>(null);
  const deletion = useMutation({
    mutationFn: (id: string) => call(deleteConversation, { query: { model, id } }),
    onSuccess: (_none, id) => {
      deleteQuestionDraft({ userId, id });
      onDeleted(id);
      refetchQueries(['conversation', 'list']);
    },
    onSettled: () => setAsked(null),
  });
  return (
    <>
      {/* Closed during the confirmation, because the list would cover the dialog. */}
      <Popover.Root open={open && asked === null} onOpenChange={setOpen}>
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
              <Popover.Title className="px-4 pt-3 pb-2 font-medium text-[0.8125rem]">
                Conversations
              </Popover.Title>
              <List
                {...{ userId, model, current }}
                onOpen={(id) => {
                  setOpen(false);
                  onOpen(id);
                }}
                onDelete={setAsked}
              />
            </Popover.Popup>
          </Popover.Positioner>
        </Popover.Portal>
      </Popover.Root>
      <ConfirmDialog
        open={asked !== null}
        onOpenChange={(next) => !next && setAsked(null)}
        title="Delete this conversation?"
        description={`“${asked?.title}” will be permanently deleted.`}
        action="Delete"
        pending={deletion.isPending}
        onConfirm={() => asked && deletion.mutate(asked.id)}
      />
    </>
  );
}

type ListProps = Pick<Props, 'userId' | 'model' | 'current' | 'onOpen'> & {
  onDelete: (row: ConversationRow) => void;
};

function List({ userId, model, current, onOpen, onDelete }: ListProps) {
  const query = useQuery(conversationsQuery(userId, model));
  return (
    <div className="max-h-[min(24rem,60dvh)] overflow-y-auto p-1 pt-0">
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
            {conversations.map((row) => (
              <Row
                key={row.id}
                row={row}
                isCurrent={row.id === current}
                onOpen={() => onOpen(row.id)}
                onDelete={() => onDelete(row)}
              />
            ))}
          </ul>
        )}
      </QueryView>
    </div>
  );
}

type RowProps = { row: ConversationRow; isCurrent: boolean; onOpen: () => void; onDelete: () => void };

function Row({ row: { title, saved_at }, isCurrent, onOpen, onDelete }: RowProps) {
  return (
    <li className={cx('flex items-center gap-1 rounded-lg pr-1.5 hover:bg-hover', isCurrent && 'bg-subtle')}>
      <button
        type="button"
        aria-current={isCurrent || undefined}
        onClick={onOpen}
        className="min-w-0 flex-1 rounded-lg px-3 py-2 text-left"
      >
        <span dir="auto" className="block truncate text-[0.8125rem] leading-5">
          {title}
        </span>
        <time
          dateTime={saved_at}
          title={formatDateTime(new Date(saved_at))}
          className="block text-muted text-xs leading-4"
        >
          <RelativeTime at={saved_at} />
        </time>
      </button>
      <Button variant="ghost" size="icon-sm" aria-label={`Delete “${title}”`} onClick={onDelete}>
        <Trash2 aria-hidden />
      </Button>
    </li>
  );
}
