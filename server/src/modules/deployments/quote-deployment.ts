import type { imageCalls } from '@bakehouse/contract/deployments/images';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { formatBgl } from '@bakehouse/contract/money';
import type { Context } from '../../platform/context.ts';
import { findLicence } from '../licences/steps.ts';
import { deviceLabel } from '../serving/placement/choose-placement.ts';
import type { ReadCapacity, ServedContext } from '../serving/served-model.ts';
import { type AskedDeployment, findPlacement } from './find-placement.ts';
import type { KindName } from './kinds/kinds.ts';
import { PERIOD_MS, timeCostMicro } from './metering/meter-deployment.ts';
import { checkReplicas } from './servers/plan/check-replicas.ts';
import { sleepsAfterMinutes } from './servers/plan/sleeps-after-minutes.ts';

type Input = { kind: KindName; body: AskedDeployment };

/** Image and video models have no context. */
type Quote = ResponseOf<typeof imageCalls.flux.quote> & { context: ServedContext | null };

/**
 * Returns the price of a deployment, for one replica and for all, and the licence it needs. Throws the
 * validation errors of deploying it.
 */
export async function quoteDeployment(
  ctx: Context,
  parts: ReadCapacity,
  { kind, body }: Input,
): Promise<Quote> {
  checkReplicas(body);
  const { placed, price } = await findPlacement(ctx, parts, { kind, body });
  const { title, licence } = placed.model;
  const { accelerator, count } = placed.placement;
  const ofReplicas = (replicas: number) => formatBgl(timeCostMicro(price, BigInt(PERIOD_MS * replicas)));
  return {
    title,
    licence: licence ? await findLicence(ctx.db, { userId: ctx.caller.userId, licence }) : null,
    device: deviceLabel({ accelerator, accelerator_count: count }),
    price_per_hour: ofReplicas(1),
    min_price_per_hour: ofReplicas(Math.max(1, body.min_replicas)),
    max_price_per_hour: ofReplicas(body.max_replicas),
    hold: ofReplicas(1),
    sleeps_after_minutes: sleepsAfterMinutes(ctx.config, body),
    context: placed.context,
    ...(placed.notice && { notice: placed.notice }),
  };
}
