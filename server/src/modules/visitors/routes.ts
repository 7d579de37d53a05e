import * as contract from '@bakehouse/contract/visitors';
import { type Binding, bind, bindPublic } from '../../platform/http/bind.ts';
import { siteOf } from '../../platform/http/callers/rate-limits.ts';
import type { IdleCredit } from '../billing/usage/with-idle-credit.ts';
import type { ChatParts } from '../chat/chat-parts.ts';
import { claimVisitorPicture, getVisitorPicture, startVisitorPicture } from './visitor-pictures.ts';
import { answerVisitor, getVisitorTries, type IsPreparing } from './visitor-questions.ts';

/** Limits per network. All users in an office may share one network. */
const PICTURES_PER_HOUR = 12;
const QUESTIONS_PER_HOUR = 40;

type Parts = { usage: IdleCredit; chat: ChatParts; isPreparing: IsPreparing };

export const visitorsRoutes = ({ usage, chat, isPreparing }: Parts): Binding[] => [
  bindPublic(contract.getVisitorTries, (ctx) => getVisitorTries(ctx, isPreparing)),
  bindPublic(contract.startVisitorPicture, (ctx, { body }) => startVisitorPicture(ctx, usage, body), {
    callsPerHour: PICTURES_PER_HOUR,
  }),
  bindPublic(contract.getVisitorPicture, (ctx, { params }) => getVisitorPicture(ctx, params)),
  bind(contract.claimVisitorPicture, (ctx, { params }) => claimVisitorPicture(ctx, params)),
  bindPublic(
    contract.askAsVisitor,
    (ctx, input, { request, client }) =>
      answerVisitor(ctx, chat, input, { network: siteOf(request), client: client.signal }),
    { callsPerHour: QUESTIONS_PER_HOUR },
  ),
];
