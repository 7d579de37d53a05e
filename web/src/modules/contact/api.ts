import { type ContactMessage, changeMessage, contactUs, listMessages } from '@bakehouse/contract/contact';
import { infiniteQueryOptions } from '@tanstack/react-query';
import { call } from '../../lib/api/api-client.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { useMutation } from '../../lib/mutation/use-mutation.ts';
import { notify } from '../../ui/notify.ts';

export type { ContactMessage };
export type MessageStatus = ContactMessage['status'];

/** Brings a message to the operators. */
export function useContactUs() {
  return useMutation({
    mutationFn: ({
      idempotencyKey,
      ...body
    }: {
      user_id: string;
      subject: string;
      message: string;
      idempotencyKey: string;
    }) => call(contactUs, { body }, { operation: 'send your message', idempotencyKey }),
    onSuccess: () => notify.success('Your message has been sent successfully!'),
  });
}

/** What users have written, newest first; for operators. */
export const messagesQuery = (status: MessageStatus | undefined) =>
  infiniteQueryOptions({
    queryKey: ['message', status ?? 'all'],
    queryFn: ({ pageParam, signal }) =>
      call(
        listMessages,
        { query: { status, cursor: pageParam ?? undefined } },
        { signal, operation: 'load the messages' },
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    staleTime: 0,
  });

export function useChangeMessage() {
  return useMutation({
    mutationFn: ({ messageId, status }: { messageId: string; status: MessageStatus }) =>
      call(changeMessage, { params: { messageId }, body: { status } }, { operation: 'change the message' }),
    // The button stays busy until the list shows it.
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['message'] }),
  });
}
