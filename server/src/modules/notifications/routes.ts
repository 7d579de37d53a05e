import * as contract from '@bakehouse/contract/notifications';
import { type Binding, bind } from '../../platform/http/bind.ts';
import { countUnread } from './count-unread.ts';
import { listNotifications } from './list-notifications.ts';
import { readNotifications } from './read-notifications.ts';

export const notificationsRoutes: Binding[] = [
  bind(contract.listNotifications, listNotifications),
  bind(contract.countUnread, countUnread),
  bind(contract.readNotifications, readNotifications),
];
