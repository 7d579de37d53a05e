import { generatorNames } from '@bakehouse/contract/generators';
import type { Notification } from '@bakehouse/contract/notifications';
import { useQueries } from '@tanstack/react-query';
import { useLocation } from '@tanstack/react-router';
import { useEffect, useEffectEvent, useRef, useSyncExternalStore } from 'react';
import { generationThumbnailQuery } from '../gallery/thumbnail/generation-thumbnail-query.ts';
import { useMarkNotificationsRead, useNotifications } from './notification-calls.ts';

/** Only notifications about finished work are marked as read automatically. */
const OF_WORK = /^(run|deployment|generation|clone)_/;
/** Only recent notifications can concern the current page. */
const LOOKED_AT = 10;

/**
 * Marks notifications as read if the user is watching their subject: a task on its own page, or a picture on
 * its generator's page. Returns how many unread ones are affected, to exclude them from the count until then.
 */
export function useMarkWatchedRead(userId: string): number {
  const pathname = useLocation({ select: (location) => location.pathname });
  const isVisible = useSyncExternalStore(onVisibilityChange, () => document.visibilityState === 'visible');
  const { mutate } = useMarkNotificationsRead(userId);
  const asked = useRef(new Set<string>());
  const newest = useNotifications(userId).data?.pages[0]?.notifications.slice(0, LOOKED_AT) ?? [];
  const unread = newest.filter(({ status, kind }) => status === 'unread' && OF_WORK.test(kind));
  const isMade = useMadeHere(userId, pathname, unread);
  const watched = isVisible ? unread.filter((one) => one.link === pathname || isMade(one)) : [];
  const ids = watched.map(({ notification_id: id }) => id);
  const read = useEffectEvent(() => {
    for (const id of ids) {
      if (asked.current.has(id)) continue;
      asked.current.add(id);
      mutate(id);
    }
  });
  const key = ids.join();
  useEffect(() => {
    if (key !== '') read();
  }, [key]);
  return ids.length;
}

/** Returns a predicate for generations made on this page, which shows its results. */
function useMadeHere(userId: string, pathname: string, unread: readonly Notification[]) {
  const isGenerator = generatorNames.some((name) => pathname === `/${name}`);
  const ids = isGenerator ? [...new Set(unread.flatMap(({ generation_id: id }) => id ?? []))] : [];
  const faces = useQueries({ queries: ids.map((id) => generationThumbnailQuery(userId, id)) });
  const here = new Set(
    faces.flatMap(({ data }) => (data && pathname === `/${data.generator}` ? data.id : [])),
  );
  return ({ generation_id: id }: Notification) => id !== null && here.has(id);
}

function onVisibilityChange(listener: () => void): () => void {
  document.addEventListener('visibilitychange', listener);
  return () => document.removeEventListener('visibilitychange', listener);
}
