import { Writable } from 'node:stream';
import { compose } from '../../core/compose.ts';
import { describeErrors } from '../../core/config/report.ts';
import { createLogger } from '../../core/log.ts';
import { prepare } from '../../core/prepare.ts';
import { driverEnvironment } from '../../core/testing/database.ts';

/** A server in the process of the test. */
export interface ServedHere {
  url: string;
  output: () => string;
  /** Stops the server as SIGTERM does, and fails when a part of it does not stop. */
  stop(): Promise<void>;
}

/**
 * Serves an instance from this process, which saves a second of CPU. For tests of how a server handles the data that it finds; use
 * `serve` of the instance where the process is killed, or its signals and exit are under test.
 */
export async function serveInProcess(configFile: string): Promise<ServedHere> {
  const { config, plugins, errors } = await prepare({ env: driverEnvironment(), args: { port: '0' }, file: configFile });
  if (errors.length > 0) throw new Error(describeErrors(errors, { color: false }));
  let output = '';
  const lines = new Writable({ write(chunk, _encoding, done) { output += chunk; done(); } });
  const composition = await compose({ config, plugins, log: await createLogger(config.log, lines) });
  const stop = async (): Promise<void> => {
    const faults = await composition.stop();
    if (faults.length > 0) throw new Error(faults.join('\n'));
  };
  try {
    await composition.open({ writes: true, schema: 'migrate' });
    await composition.start();
    await composition.listen();
  } catch (error) {
    await composition.stop();
    throw error;
  }
  return { url: composition.server.info.uri, output: () => output, stop };
}
