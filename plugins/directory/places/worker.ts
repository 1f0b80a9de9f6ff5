import { parentPort } from 'node:worker_threads';
import { readGazetteer } from './gazetteer.ts';

parentPort?.postMessage(readGazetteer(), []);
