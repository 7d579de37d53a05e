import * as contract from '@bakehouse/contract/ipfs';
import { type Binding, bind, bindPublic } from '../../platform/http/bind.ts';
import { breakOffWithKey } from '../../platform/http/callers/break-off-with-key.ts';
import { linkCar, openCarLink } from './car/car-links.ts';
import { findCar } from './car/find-car.ts';
import { sendCar } from './car/send-car.ts';
import { getIpfs } from './get-ipfs.ts';
import { listIpfsFiles } from './list-ipfs-files.ts';

export const ipfsRoutes: Binding[] = [
  bind(contract.getIpfs, getIpfs),
  bind(contract.listIpfsFiles, listIpfsFiles),
  bind(contract.downloadCar, async (ctx, { params, query: { revision_id: revisionId, path } }, http) => {
    const wanted = { assetId: params.id, userId: ctx.caller.userId, revisionId, path };
    const car = await findCar(ctx, wanted);
    breakOffWithKey(ctx, http);
    await sendCar(http, car);
  }),
  bind(contract.linkCar, linkCar),
  bindPublic(contract.openCarLink, openCarLink),
];
