import * as contract from '@bakehouse/contract/contact';
import { type Binding, bind } from '../../platform/http/bind.ts';
import { changeMessage } from './change-message.ts';
import { contactUs } from './contact-us.ts';
import { listMessages } from './list-messages.ts';

export const contactRoutes: Binding[] = [
  // Each message is mailed to every operator.
  bind(contract.contactUs, contactUs, { callsPerMinute: 10 }),
  bind(contract.listMessages, listMessages),
  bind(contract.changeMessage, changeMessage),
];
