import * as contract from '@bakehouse/contract/contact';
import { type Binding, bind } from '../../platform/http/bind.ts';
import { changeMessage, contactUs, listMessages } from './messages.ts';

export const contactRoutes: Binding[] = [
  // Each message is mailed to every operator.
  bind(contract.contactUs, contactUs, { callsPerMinute: 10 }),
  bind(contract.listMessages, listMessages),
  bind(contract.changeMessage, changeMessage),
];
