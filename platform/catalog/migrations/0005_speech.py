"""Speech models, sold by the hour of audio."""

import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("catalog", "0004_prices_can_be_withdrawn"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="priceversion",
            name="price_is_complete_and_not_negative",
        ),
        migrations.AddField(
            model_name="aimodel",
            name="minimum_seconds",
            field=models.PositiveSmallIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="priceversion",
            name="speech_fee",
            field=models.BigIntegerField(
                blank=True,
                null=True,
                validators=[django.core.validators.MaxValueValidator(100000000000)],
            ),
        ),
        migrations.AddField(
            model_name="priceversion",
            name="speech_hour",
            field=models.BigIntegerField(
                blank=True,
                null=True,
                validators=[django.core.validators.MaxValueValidator(100000000000)],
            ),
        ),
        migrations.AlterField(
            model_name="aimodel",
            name="modality",
            field=models.CharField(
                choices=[
                    ("chat", "Chat"),
                    ("image", "Image"),
                    ("embedding", "Embedding"),
                    ("speech", "Speech"),
                ],
                max_length=16,
            ),
        ),
        migrations.AddConstraint(
            model_name="priceversion",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("image_fee__isnull", True),
                        ("image_high__isnull", True),
                        ("image_low__isnull", True),
                        ("image_standard__isnull", True),
                        ("input__gte", 0),
                        ("input__isnull", False),
                        ("output__gte", 0),
                        ("output__isnull", False),
                        ("speech_fee__isnull", True),
                        ("speech_hour__isnull", True),
                        ("token_fee__gte", 0),
                        ("token_fee__isnull", False),
                    ),
                    models.Q(
                        ("image_fee__gte", 0),
                        ("image_fee__isnull", False),
                        ("image_high__gte", 0),
                        ("image_high__isnull", False),
                        ("image_low__gte", 0),
                        ("image_low__isnull", False),
                        ("image_standard__gte", 0),
                        ("image_standard__isnull", False),
                        ("input__isnull", True),
                        ("output__isnull", True),
                        ("speech_fee__isnull", True),
                        ("speech_hour__isnull", True),
                        ("token_fee__isnull", True),
                    ),
                    models.Q(
                        ("image_fee__isnull", True),
                        ("image_high__isnull", True),
                        ("image_low__isnull", True),
                        ("image_standard__isnull", True),
                        ("input__isnull", True),
                        ("output__isnull", True),
                        ("speech_fee__gte", 0),
                        ("speech_fee__isnull", False),
                        ("speech_hour__gte", 0),
                        ("speech_hour__isnull", False),
                        ("token_fee__isnull", True),
                    ),
                    _connector="OR",
                ),
                name="price_is_complete_and_not_negative",
            ),
        ),
    ]
