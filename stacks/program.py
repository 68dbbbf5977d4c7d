"""What `pulumi up` runs: one environment, as Pulumi.<stack>.yaml describes it."""

import gc
import os
from pathlib import Path

import pulumi

# Not relative: projects import this module as inference_platform.stacks.program. In a checkout, the workbench has
# loaded `stacks` under its own name, and receives the plan only from there.
from components.contract.texts.crash_report import report_unexpected_error
from components.contract.texts.secrets import masked_text
from stacks.environment import deploy
from stacks.secrecy import secret_settings
from stacks.settings import read


def run() -> None:
    """Deploy the environment of the current stack.

    Raises:
        pulumi.RunError: the program failed; secret settings are masked in the message.
    """
    # Registrations stay alive until this process exits. Traversing them repeatedly took a sixth of its CPU time.
    gc.disable()
    if "INFERENCE_PLATFORM_SDK_DEBUG" not in os.environ:
        # The SDK sends several debug messages per resource and waits for each; the engine shows them only with
        # --debug.
        pulumi.log.debug = lambda *_args, **_kwargs: None
    try:
        deploy(read())
    except (pulumi.RunError, pulumi.InputPropertiesError) as error:
        raise pulumi.RunError(masked_text(str(error), secret_settings())) from None
    except Exception as error:
        raise pulumi.RunError(report_unexpected_error(error, Path(".workbench"))) from error
