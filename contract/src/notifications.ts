import * as z from 'zod';
import { userIdParams } from './accounts.ts';
import { endpoint } from './endpoint.ts';
import { idOf } from './fields/id.ts';
import { bgl } from './money.ts';

/** Kinds of notifications. docs/notifications.md describes when each is sent. */
const notificationKinds = [
  'run_completed',
  'run_failed',
  'run_cancelled',
  'deployment_ready',
  'deployment_failed',
  'deployment_stopped',
  'generation_completed',
  'generation_failed',
  'clone_completed',
  'clone_failed',
  'credits_received',
  'credits_bought',
  'credits_granted',
  'referral_counted',
  'balance_low',
  'access_granted',
  'access_refused',
  'asset_shared',
  'api_key_expiring',
  'message_received',
  'payment_refused',
] as const;

export type NotificationKind = (typeof notificationKinds)[number];

export const notification = z.object({
  notification_id: z.string(),
  kind: z.enum(notificationKinds),
  /** One sentence. */
  message: z.string(),
  /** The amount in the message in BGL, if any. */
  amount: bgl.nullable(),
  /** The page of the web app to open. */
  link: z.string(),
  /** The related picture or video, which may have been deleted since. */
  generation_id: z.string().nullable(),
  status: z.enum(['unread', 'read']),
  created_at: z.string(),
});

export type Notification = z.infer<typeof notification>;

/** Returns a list, like the original product. A page below its limit is the last one. */
export const listNotifications = endpoint({
  method: 'POST',
  path: '/api/v1/notification/user/:userId',
  access: 'key',
  operation: 'load your notifications',
  summary: 'List notifications, newest first; they are kept for 90 days',
  params: userIdParams,
  query: z.object({
    limit: z.coerce.number().int().min(1).max(200).default(50),
    /** The notification_id of the last entry on the previous page. */
    cursor: idOf('notification').optional(),
  }),
  response: z.array(notification),
});

/** The count stops at this maximum. */
export const UNREAD_COUNT_MAX = 100;

export const unreadCount = z.object({
  /** Number of unread notifications; 100 means 100 or more. */
  unread: z.int().min(0).max(UNREAD_COUNT_MAX),
});

export const countUnread = endpoint({
  method: 'GET',
  path: '/api/v1/notifications/user/:userId/unread',
  access: 'key',
  operation: 'load your notifications',
  summary: 'Count unread notifications, up to 100',
  params: userIdParams,
  response: unreadCount,
});

export const readNotifications = endpoint({
  method: 'PUT',
  path: '/api/v1/notifications/user/:userId/status',
  access: 'key',
  operation: 'mark your notifications as read',
  summary: 'Mark one notification as read, or all with an empty notification_id',
  params: userIdParams,
  query: z.object({
    notification_id: z.union([z.literal(''), idOf('notification')], 'Notification not found').default(''),
    status: z.literal('read', "status must be 'read'"),
  }),
  response: unreadCount,
});
