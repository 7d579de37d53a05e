import { type ContactMessage, changeMessage, contactUs, listMessages } from '@bakehouse/contract/contact';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { InfiniteData } from '@tanstack/react-query';
import { call } from '../../lib/api/api-client.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { endpointPages } from '../../lib/live/paged-query.ts';
import { useMutation } from '../../lib/mutation/use-mutation.ts';
import { notify } from '../../ui/notify.ts';

export type MessageStatus = ContactMessage['status'];

type MessagePage = ResponseOf<typeof listMessages>;

/** Sends a message to the operators. */
export function useSendMessage() {
  return useMutation({
    mutationFn: ({
      idempotencyKey,
      ...body
    }: {
      user_id: string;
      subject: string;
      message: string;
      idempotencyKey: string;
    }) => call(contactUs, { body }, { idempotencyKey }),
    onSuccess: () => notify.success('Your message has been sent successfully!'),
  });
}

/** Lists the users' messages, newest first; for operators. */
export const messagesQuery = (status: MessageStatus | undefined) =>
  endpointPages(
    ['message', status ?? 'all'],
    listMessages,
    { query: { status } },
    { rows: 'messages', id: 'message_id', staleTime: 0, refetchOnWindowFocus: false },
  );

export function useChangeMessage() {
  return useMutation({
    mutationFn: ({ messageId, status }: { messageId: string; status: MessageStatus }) =>
      call(changeMessage, { params: { messageId }, body: { status } }),
    // Updates the message in place: a refetch would drop it from the open list of new messages. Other lists
    // are refetched when opened.
    onSuccess: (changed) =>
      queryClient.setQueriesData<InfiniteData<MessagePage>>(
        { queryKey: ['message'] },
        (data) =>
          data && {
            ...data,
            pages: data.pages.map((page) => ({
              ...page,
              messages: page.messages.map((one) => (one.message_id === changed.message_id ? changed : one)),
            })),
          },
      ),
  });
}
