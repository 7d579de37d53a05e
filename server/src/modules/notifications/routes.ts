import * as contract from '@bakehouse/contract/notifications';
import { type Binding, bind } from '../../platform/http/bind.ts';
import { countUnread, listNotifications, markNotificationsRead } from './notifications.ts';

export const notificationsRoutes: Binding[] = [
  bind(contract.listNotifications, listNotifications),
  bind(contract.countUnread, countUnread),
  bind(contract.readNotifications, markNotificationsRead),
];
