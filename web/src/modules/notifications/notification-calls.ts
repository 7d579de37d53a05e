import { countUnread, listNotifications, readNotifications } from '@bakehouse/contract/notifications';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { call } from '../../lib/api/api-client.ts';
import { endpointQuery } from '../../lib/api/endpoint-query.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { useFallbackInterval } from '../../lib/live/event-stream.ts';
import { pagedQuery } from '../../lib/live/paged-query.ts';
import { useMutation } from '../../lib/mutation/use-mutation.ts';

const POLL_MS = 30_000;
const PAGE_LENGTH = 50;

/** Query for the user's notifications, paginated, newest first. */
export const notificationsQuery = (userId: string) =>
  pagedQuery({
    queryKey: ['notification', userId],
    rows: 'notifications',
    id: 'notification_id',
    read: async (cursor, signal) => {
      const notifications = await call(
        listNotifications,
        { params: { userId }, query: { limit: PAGE_LENGTH, cursor } },
        { signal },
      );
      const last = notifications[PAGE_LENGTH - 1];
      return { notifications, next_cursor: last?.notification_id ?? null };
    },
  });

export function useNotifications(userId: string) {
  return useInfiniteQuery({ ...notificationsQuery(userId), refetchInterval: useFallbackInterval(POLL_MS) });
}

/** Returns the number of unread notifications across pages; undefined while unknown. */
export function useUnreadCount(userId: string): number | undefined {
  const { data } = useQuery({
    ...endpointQuery(['notification', userId, 'unread'], countUnread, { params: { userId } }),
    refetchInterval: useFallbackInterval(POLL_MS),
  });
  return data?.unread;
}

/** Marks a notification as read; an empty id marks all. */
export function useMarkNotificationsRead(userId: string) {
  return useMutation({
    mutationFn: (notification_id: string) =>
      call(readNotifications, { params: { userId }, query: { notification_id, status: 'read' } }),
    // Awaited so that the button stays busy until the list is updated.
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['notification', userId] }),
  });
}
