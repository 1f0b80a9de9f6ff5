import { micromark } from 'micromark';
import { parentPort, workerData } from 'node:worker_threads';

/** Images are left out: loading one would show another server who reads the brief. */
const WITHOUT_IMAGES = { disable: { null: ['labelStartImage'] } };

// The time limit begins with the first message.
parentPort!.postMessage({});
parentPort!.postMessage({ html: micromark(workerData as string, { extensions: [WITHOUT_IMAGES] }) });
