import * as contract from '@bakehouse/contract/ipfs';
import { type Binding, bind } from '../../platform/http/bind.ts';
import { getIpfs } from './get-ipfs.ts';
import { listIpfsFiles } from './list-ipfs-files.ts';

export const ipfsRoutes: Binding[] = [
  bind(contract.getIpfs, getIpfs),
  bind(contract.listIpfsFiles, listIpfsFiles),
];
