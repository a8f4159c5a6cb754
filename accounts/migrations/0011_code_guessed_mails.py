"""A kind of mail: somebody who knows the password has typed wrong codes."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0010_mailboxes"),
    ]

    operations = [
        migrations.AlterField(
            model_name="outgoingemail",
            name="kind",
            field=models.CharField(
                choices=[
                    ("verify_email", "Verify Email"),
                    ("reset_password", "Reset Password"),
                    ("password_changed", "Password Changed"),
                    ("password_guessed", "Password Guessed"),
                    ("code_guessed", "Code Guessed"),
                ],
                max_length=24,
            ),
        ),
    ]
