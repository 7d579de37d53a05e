import * as contract from '@bakehouse/contract/ipfs';
import { type Binding, bind } from '../../platform/http/bind.ts';
import { getIpfs, listIpfsFiles } from './ipfs-files.ts';

export const ipfsRoutes: Binding[] = [
  bind(contract.getIpfs, getIpfs),
  bind(contract.listIpfsFiles, listIpfsFiles),
];
