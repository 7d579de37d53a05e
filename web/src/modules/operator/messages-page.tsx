import type { ContactMessage } from '@bakehouse/contract/contact';
import { Collapsible } from '@base-ui/react/collapsible';
import { useInfiniteQuery } from '@tanstack/react-query';
import { ChevronRight, Mail } from 'lucide-react';
import { cx } from '../../lib/cx.ts';
import { formatDateTime } from '../../lib/format/format-time.ts';
import { useUrlSearch } from '../../lib/url-search.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button, buttonClass } from '../../ui/button.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { FilterField } from '../../ui/resource/filter-bar.tsx';
import { ResourceList } from '../../ui/resource/resource-list.tsx';
import { ResourcePage } from '../../ui/resource/resource-page.tsx';
import { type MessageStatus, messagesQuery, useChangeMessage } from '../contact/message-calls.ts';
import { operatorPage } from './operator-page.tsx';

const filter = {
  name: 'status',
  label: 'Status',
  segmented: true,
  options: [
    { value: 'all', label: 'All' },
    { value: 'new', label: 'New' },
    { value: 'read', label: 'Read' },
    { value: 'answered', label: 'Answered' },
  ],
};

/** The operator's list of Contact Us messages. */
export const MessagesPage = operatorPage('Messages', 'the messages', Messages);

function Messages() {
  const [{ status }] = useUrlSearch<{ status?: MessageStatus }>();
  return (
    <ResourcePage
      title="Messages"
      description="Messages sent through Contact Us."
      actions={<FilterField {...filter} />}
    >
      <ResourceList
        query={useInfiniteQuery(messagesQuery(status))}
        rows={(page) => page.messages}
        rowKey={(message) => message.message_id}
        rowHeight={64}
        failed="The messages could not be loaded"
        empty={{
          icon: <Mail aria-hidden />,
          title: status ? `No ${status} messages` : 'No messages yet',
          description: 'Messages from Contact Us appear here.',
        }}
        item={(message) => <Message message={message} />}
      />
    </ResourcePage>
  );
}

function Message({ message }: { message: ContactMessage }) {
  const { message_id: messageId, subject, username, email, status, created_at } = message;
  const change = useChangeMessage();
  const mark = (next: MessageStatus) => change.mutate({ messageId, status: next });
  const at = new Date(created_at);
  return (
    <Collapsible.Root onOpenChange={(open) => open && status === 'new' && mark('read')}>
      <Collapsible.Trigger className="group flex w-full items-start gap-3 px-5 py-3.5 text-left outline-offset-[-2px] hover:bg-subtle">
        <ChevronRight
          aria-hidden
          className="mt-1 size-4 shrink-0 text-muted transition-transform group-data-panel-open:rotate-90"
        />
        <span className="min-w-0 flex-1">
          <span className={cx('block break-words', status === 'new' ? 'font-semibold' : 'font-medium')}>
            {subject}
          </span>
          <span className="block truncate text-compact text-muted">
            {username} ·{' '}
            <time title={formatDateTime(at)}>
              <RelativeTime at={at} />
            </time>
          </span>
        </span>
        <StatusOf status={status} />
      </Collapsible.Trigger>
      <Collapsible.Panel className="pt-1 pr-5 pb-5 pl-12">
        <p className="max-w-3xl whitespace-pre-wrap break-words">{message.message}</p>
        <p className="mt-4 text-compact text-muted">
          From {username}, <span className="[overflow-wrap:anywhere]">{email}</span>
        </p>
        <div className="mt-4 flex flex-wrap gap-2">
          <a
            className={buttonClass({ variant: 'primary', size: 'sm' })}
            href={`mailto:${email}?subject=${encodeURIComponent(`Re: ${subject}`)}`}
          >
            Reply by email
          </a>
          {status === 'answered' ? (
            <Button size="sm" loading={change.isPending} onClick={() => mark('read')}>
              Mark as unanswered
            </Button>
          ) : (
            <Button size="sm" loading={change.isPending} onClick={() => mark('answered')}>
              Mark as answered
            </Button>
          )}
        </div>
      </Collapsible.Panel>
    </Collapsible.Root>
  );
}

function StatusOf({ status }: { status: MessageStatus }) {
  if (status === 'new') return <Badge tone="accent">New</Badge>;
  return status === 'answered' ? <Badge tone="good">Answered</Badge> : <Badge>Read</Badge>;
}
